import { GatewayError } from "../errors.ts";
import type { UpstreamHeaders } from "../upstream/upstream-call.ts";
import type { TokenUsage } from "../wire/chat-completion.ts";

/** Converts an upstream's stream to the client's events. */
export type StreamReading = {
  /** The media type required of the upstream's stream, without parameters. */
  readonly contentType: string;
  readonly output: { readonly tokens: number };
  push(bytes: Buffer): StreamPiece;
  /** The upstream's body has ended, as far as HTTP can tell. */
  end(): StreamPiece;
};

export type StreamPiece = {
  /** Bytes for the client, up to the end of the stream. May be empty. */
  bytes: Buffer;
  usage: TokenUsage | null;
  /** Whether the stream is over: complete, or with an error. */
  ending: "done" | GatewayError | null;
};

/** @param what completes "The answer of the model's provider was" */
export function badAnswer(what: string, reason: GatewayError["reason"] = "unreadable_answer"): GatewayError {
  return new GatewayError(
    "upstream_error",
    `The provider's response was ${what}. Retry the request, and check the provider if the error persists.`,
    { reason },
  );
}

/** Whether the answer is compressed, although no request accepts that. */
export function isCompressed({ "content-encoding": encoding }: UpstreamHeaders): boolean {
  return encoding !== undefined && encoding !== "identity";
}

export const compressed = () => badAnswer("compressed despite the request headers");

/**
 * Converts anything thrown while an answer was read. The cause is dropped, because a parser's message quotes its input.
 */
export function toAnswerError(thrown: unknown): GatewayError {
  return thrown instanceof GatewayError ? thrown : badAnswer("malformed");
}

/** @param what completes the sentence above, up to the number of bytes */
export function tooLong(what: string, bytesMax: number): GatewayError {
  return badAnswer(`${what} ${bytesMax} bytes`, "answer_too_long");
}

export function cutOff(): GatewayError {
  return badAnswer("cut off before its end", "answer_cut_off");
}

export const noBytes = Buffer.alloc(0);
