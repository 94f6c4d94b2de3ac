import type { FinishReason } from "../../wire/chat-completion.ts";
import { upstreamReported } from "../upstream-reported.ts";

/**
 * Why a candidate ended; null while it has not. Every end that is neither regular nor a filter's is a failure, such as
 * MALFORMED_FUNCTION_CALL, OTHER or one nobody knows yet: throws `upstreamReported(…)`.
 * https://ai.google.dev/api/generate-content#FinishReason
 */
export function readFinishReason(
  candidate: Record<string, unknown>,
  hasToolCalls: boolean,
): FinishReason | null {
  const { finishReason: reason, finishMessage: message } = candidate;
  if (typeof reason !== "string" || reason === "FINISH_REASON_UNSPECIFIED") return null;
  if (reason === "STOP") return hasToolCalls ? "tool_calls" : "stop";
  const cut = cuts.get(reason);
  if (cut) return cut;
  throw upstreamReported(
    `The model failed with ${reason}${typeof message === "string" ? `: ${message}` : "."}`,
  );
}

const cuts = new Map<string, FinishReason>([
  ["MAX_TOKENS", "length"],
  // More could be had for the token that comes with it; chat completions have nothing like it.
  ["CONTINUATION", "length"],
  ["SAFETY", "content_filter"],
  ["RECITATION", "content_filter"],
  ["LANGUAGE", "content_filter"],
  ["BLOCKLIST", "content_filter"],
  ["PROHIBITED_CONTENT", "content_filter"],
  ["SPII", "content_filter"],
  ["IMAGE_SAFETY", "content_filter"],
  ["IMAGE_PROHIBITED_CONTENT", "content_filter"],
  ["IMAGE_RECITATION", "content_filter"],
]);
