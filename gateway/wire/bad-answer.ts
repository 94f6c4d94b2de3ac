import { GatewayError, type UpstreamErrorDetails, type WithoutAnswer } from "../errors.ts";

/** @param what completes "The provider's response was" */
export function badAnswer(what: string, reason: GatewayError["reason"] = "unreadable_answer"): GatewayError {
  return new GatewayError(
    "upstream_error",
    `The provider's response was ${what}. Retry the request, and check the provider if the error persists.`,
    { reason },
  );
}

export const compressed = () => badAnswer("compressed despite the request headers");

/** Omits `thrown` as the cause, because a parser's message quotes its input. */
export function toAnswerError(thrown: unknown): GatewayError {
  return thrown instanceof GatewayError ? thrown : badAnswer("malformed");
}

export function tooLong(part: string, bytesMax: number): GatewayError {
  return badAnswer(`too long: ${part} has more than ${bytesMax} bytes`, "answer_too_long");
}

export function cutOff(): GatewayError {
  return badAnswer("cut off before its end", "answer_cut_off");
}

/** Another candidate may answer, if the client has received nothing. */
export function withoutChoices(): GatewayError {
  return new GatewayError(
    "upstream_error",
    "The provider's response contained no choice. Retry the request, and check the provider if the error persists.",
    { reason: "unreadable_answer", withoutAnswer: { status: null } },
  );
}

/** An error that an upstream reports within its response. `errorWithoutSecrets` removes quoted credentials. */
export function upstreamReported(
  message: unknown,
  where: "in its response" | "mid-stream" = "in its response",
  upstream?: UpstreamErrorDetails,
): GatewayError {
  const isExplained = typeof message === "string" && message !== "";
  return new GatewayError(
    "upstream_error",
    isExplained ? message : `The provider reported an error ${where}. Retry the request.`,
    { reason: "reported_error", withoutAnswer: { status: null }, ...(upstream && { upstream }) },
  );
}

/** Omits the upstream's message, because it is about the gateway's credential. */
export function credentialRejected(details: {
  reason: GatewayError["reason"];
  withoutAnswer?: WithoutAnswer;
}): GatewayError {
  return new GatewayError(
    "upstream_auth_failed",
    "The provider rejected the gateway's credential. Ask an administrator to check the credential.",
    details,
  );
}
