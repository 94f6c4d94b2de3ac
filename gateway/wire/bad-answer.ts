import { GatewayError, type UpstreamErrorDetails } from "../errors.ts";
import { isObject, parseShortJson } from "./json.ts";

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
    { reason: "reported_error", ...(upstream && { upstream }) },
  );
}

/** The message of an error in OpenAI's format or a variant. Null for other payloads and for long ones. */
export function readErrorMessage(payload: Buffer): string | null {
  const parsed = parseShortJson(payload, 0, payload.length);
  const body: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  const error = isObject(body) ? (body["error"] ?? body) : null;
  // AWS uses both `message` and `Message`.
  const message = isObject(error) ? (error["message"] ?? error["Message"]) : error;
  return typeof message === "string" ? message : null;
}
