import type { BodyLimits } from "../dialects/parse-body.ts";
import type { Settings } from "../config/limit-variables.ts";
import type { Attempt } from "../routing/attempts.ts";
import type { Candidate } from "../routing/candidate.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import type { Exchange } from "./exchange.ts";

/** What an endpoint does: how its requests are read, and how one candidate is asked to answer. */
export type Operation<Request extends ModelRequest = ModelRequest> = {
  /** As in usage records. */
  endpointName: string;
  /** Throws a `GatewayError` for a request that is not valid. */
  read(bytes: Buffer, limits: BodyLimits): Request;
  /** Throws a `GatewayError` where the candidate cannot serve the request. */
  prepare(call: ModelCall<Request>, candidate: Candidate): Attempt;
};

/** What the gateway has to know of every request for a model. */
export type ModelRequest = {
  body: Record<string, unknown>;
  /** The requested slug. */
  model: string;
  stream: boolean;
};

export type ModelCall<Request extends ModelRequest = ModelRequest> = {
  context: { limits: Settings; upstreams: Upstreams };
  exchange: Exchange;
  request: Request;
  /** The client's; names in lower case. */
  headers: ClientHeaders;
};

export type ClientHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * A request that is parsed again when it is needed again. While an upstream works on a large one, only its bytes are held:
 * the parsed body can take twenty times their size.
 */
export class HeldRequest<Request> {
  readonly #bytes: Buffer;
  readonly #read: (bytes: Buffer) => Request;
  #request: Request | null;

  /** Throws what `read` throws. */
  constructor(bytes: Buffer, read: (bytes: Buffer) => Request) {
    this.#bytes = bytes;
    this.#read = read;
    this.#request = read(bytes);
  }

  get value(): Request {
    return this.#request ?? this.#read(this.#bytes);
  }

  /** The request has been sent, or waits for its turn. */
  letGo(): void {
    if (this.#bytes.length > parsedBytesMax) this.#request = null;
  }
}

/** Up to here, keeping the parsed body costs less than parsing it for an estimate of its tokens. */
const parsedBytesMax = 64 * 1024;
