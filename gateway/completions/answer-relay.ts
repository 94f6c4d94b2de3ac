import { GatewayError } from "../errors.ts";
import type { UpstreamEvents, UpstreamHeaders } from "../upstream/upstream-call.ts";
import { applyEdits, type Edit } from "../wire/apply-edits.ts";
import { isObject, readTokenUsage } from "../wire/chat-completion.ts";
import { isKey, scanMembers } from "../wire/json-layout.ts";
import { ErrorCollector } from "./error-collector.ts";
import type { Exchange } from "./exchange.ts";

/**
 * Brings a whole answer (no stream) to the client: the upstream's own bytes, with the slug in `model`. It is kept until it
 * is complete, because only then is it known that it is an answer.
 */
export class AnswerRelay implements UpstreamEvents {
  readonly #exchange: Exchange;
  readonly #slug: string;
  readonly #bytesMax: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #answeredAt = 0;
  #error: ErrorCollector | null = null;

  constructor(exchange: Exchange, slug: string, bytesMax: number) {
    this.#exchange = exchange;
    this.#slug = slug;
    this.#bytesMax = bytesMax;
  }

  onHeaders(status: number, headers: UpstreamHeaders): void {
    if (status !== 200) this.#error = new ErrorCollector(this.#exchange, status, headers);
    else if (headers["content-encoding"] !== undefined && headers["content-encoding"] !== "identity") {
      this.#exchange.fail(garbage("compressed, though it was asked not to"));
    }
  }

  onData(bytes: Buffer): void {
    if (this.#error) return this.#error.add(bytes);
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes > this.#bytesMax) this.#exchange.fail(garbage(`longer than ${this.#bytesMax} bytes`));
  }

  onEnd(): void {
    if (this.#error) return this.#error.finish();
    this.#answeredAt = performance.now();
    const bytes =
      this.#chunks.length === 1 && this.#chunks[0] ? this.#chunks[0] : Buffer.concat(this.#chunks);
    const completion = parseCompletion(bytes);
    if (completion === null) return this.#exchange.fail(garbage("not a chat completion"));
    this.#exchange.usage = readTokenUsage(completion["usage"]);
    this.#exchange.noteFirstToken();
    const answer = withModel(bytes, this.#slug);
    this.#exchange.succeed(() =>
      this.#exchange.reply.sendJson(answer, this.#exchange.overheadHeader(this.#answeredAt)),
    );
  }

  onError(error: GatewayError): void {
    this.#exchange.fail(error);
  }
}

function parseCompletion(bytes: Buffer): Record<string, unknown> | null {
  let completion: unknown;
  try {
    completion = JSON.parse(bytes.toString("utf8"));
  } catch {
    return null;
  }
  return isObject(completion) && Array.isArray(completion["choices"]) ? completion : null;
}

/** The same bytes with the slug as the value of the top-level `model`, which is added where there is none. */
function withModel(bytes: Buffer, slug: string): Buffer {
  const text = JSON.stringify(slug);
  const edits: Edit[] = [];
  scanMembers(bytes, 0, bytes.length, Infinity, (keyStart, keyEnd, start, end) => {
    if (isKey(bytes, keyStart, keyEnd, "model")) edits.push({ start, end, text });
  });
  if (edits.length === 0) {
    const first = bytes.indexOf("{") + 1;
    edits.push({ start: first, end: first, text: `"model":${text},` });
  }
  return applyEdits(bytes, edits);
}

function garbage(what: string): GatewayError {
  return new GatewayError("upstream_error", `The answer of the model's provider was ${what}.`);
}
