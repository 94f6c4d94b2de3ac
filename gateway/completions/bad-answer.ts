import { GatewayError } from "../errors.ts";

/** @param what completes "The answer of the model's provider was" */
export function badAnswer(what: string, reason: GatewayError["reason"] = "unreadable_answer"): GatewayError {
  return new GatewayError(
    "upstream_error",
    `The provider's response was ${what}. Retry the request, and check the provider if the error persists.`,
    { reason },
  );
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
