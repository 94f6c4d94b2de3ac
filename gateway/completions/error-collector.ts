import { GatewayError } from "../errors.ts";
import type { Candidate } from "../routing/candidate.ts";
import type { UpstreamHeaders } from "../upstream/upstream-call.ts";
import type { Exchange } from "./exchange.ts";
import { type ErrorSpeaker, readUpstreamError } from "./read-upstream-error.ts";

/** Reads the body of an upstream's error response, up to a limit, and ends the exchange with its message. */
export class ErrorCollector {
  readonly #exchange: Exchange;
  readonly #status: number;
  readonly #headers: UpstreamHeaders;
  readonly #speaker: ErrorSpeaker;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(exchange: Exchange, status: number, headers: UpstreamHeaders) {
    this.#exchange = exchange;
    this.#status = status;
    this.#headers = headers;
    this.#speaker = speakerOf(exchange.candidate);
    exchange.observed?.callAnswered(status);
  }

  add(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes > errorBytesMax) this.finish();
  }

  finish(): void {
    const body = Buffer.concat(this.#chunks);
    this.#exchange.fail(readUpstreamError(this.#status, this.#headers, body, this.#speaker));
  }
}

function speakerOf(candidate: Candidate | null): ErrorSpeaker {
  const target = candidate?.target;
  if (!target || target instanceof GatewayError) return { form: "native", secret: null };
  const { chat, effectiveStatus } = target;
  return { form: chat.quirks ? "native" : "translated", secret: chat.endpoint.secret, effectiveStatus };
}

const errorBytesMax = 64 * 1024;
