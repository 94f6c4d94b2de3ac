import { GatewayError } from "../errors.ts";
import type { UpstreamHeaders } from "../upstream/upstream-call.ts";
import type { TokenUsage } from "../wire/chat-completion.ts";

/** Makes the client's events of what an upstream streams. */
export type StreamReading = {
  /** The media type that the upstream's stream must have, without parameters. */
  readonly contentType: string;
  /** The output so far. */
  readonly output: { readonly tokens: number };
  push(bytes: Buffer): StreamPiece;
  /** The upstream's answer has ended, as far as HTTP can tell. */
  end(): StreamPiece;
};

export type StreamPiece = {
  /** What the client gets, up to whatever ended the stream; may be empty. */
  bytes: Buffer;
  usage: TokenUsage | null;
  /** Whether the stream is over: as it should be, or for a reason. */
  ending: "done" | GatewayError | null;
};

/** @param what goes on "The answer of the model's provider was" */
export function badAnswer(what: string, reason: GatewayError["reason"] = "unreadable_answer"): GatewayError {
  return new GatewayError("upstream_error", `The answer of the model's provider was ${what}.`, { reason });
}

/** Whether an answer is compressed, although no request accepts that. */
export function isCompressed({ "content-encoding": encoding }: UpstreamHeaders): boolean {
  return encoding !== undefined && encoding !== "identity";
}

export const compressed = () => badAnswer("compressed, though it was asked not to");

/** For whatever was thrown while an answer was read. Without the cause: a parser's message quotes what it read. */
export function toAnswerError(thrown: unknown): GatewayError {
  return thrown instanceof GatewayError ? thrown : badAnswer("not in its provider's form");
}

/** @param what goes on as above, up to the bytes that it may have */
export function tooLong(what: string, bytesMax: number): GatewayError {
  return badAnswer(`${what} ${bytesMax} bytes`, "answer_too_long");
}

export function cutOff(): GatewayError {
  return badAnswer("cut off: it ended before it was done", "answer_cut_off");
}

export const noBytes = Buffer.alloc(0);
