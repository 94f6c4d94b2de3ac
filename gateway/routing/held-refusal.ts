import { readRetryAfterMs } from "../upstream/read-retry-after.ts";
import { isMediaType } from "../upstream/is-media-type.ts";
import type { UpstreamHeaders } from "../upstream/upstream-call.ts";
import { GrowingBody } from "../wire/bytes.ts";
import { parseJson } from "../wire/json.ts";
import { readRetryInfoMs } from "../wire/retry-info.ts";

/** Holds a rejection whose headers do not say how long to wait, if its body may. */
export function holdRefusal(
  status: number,
  headers: UpstreamHeaders,
  release: () => void,
): HeldRefusal | null {
  const mayWait =
    (status === 429 || status === 503) &&
    readRetryAfterMs(headers) === null &&
    isMediaType(headers["content-type"], "application/json");
  return mayWait ? new HeldRefusal(status, headers, release) : null;
}

/** A rejection whose body is read before another call follows. The wait for the body is short. */
class HeldRefusal {
  readonly status: number;
  readonly headers: UpstreamHeaders;
  readonly #body = new GrowingBody(bodyBytesMax);
  readonly #release: () => void;
  readonly #timer: NodeJS.Timeout;

  /** @param release runs if the body is too long or late */
  constructor(status: number, headers: UpstreamHeaders, release: () => void) {
    this.status = status;
    this.headers = headers;
    this.#release = release;
    this.#timer = setTimeout(release, bodyWaitMsMax);
  }

  get body(): Buffer {
    return this.#body.bytes;
  }

  /** Copies the bytes, because the connection may use their buffer again. */
  add(bytes: Buffer): void {
    this.#body.append(Buffer.from(bytes));
    if (this.#body.length > bodyBytesMax) this.#release();
  }

  letGo(): void {
    clearTimeout(this.#timer);
  }

  readWaitMs(): number | null {
    return readRetryInfoMs(parseJson(this.body.toString("utf8")));
  }
}

const bodyBytesMax = 64 * 1024;
const bodyWaitMsMax = 1_000;

export type { HeldRefusal };
