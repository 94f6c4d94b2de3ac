/**
 * Why the answer ended. Chat completions do not report which stop sequence matched. Calls override the upstream's
 * reason: some upstreams send `stop` after a call, and a client with `tool_use` but no call waits.
 * https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
 */
export function toStopReason(
  finishReason: unknown,
  outcome: { hasCalls: boolean; isRefusal: boolean },
): StopReason {
  if (finishReason === "length") return "max_tokens";
  if (finishReason === "content_filter" || outcome.isRefusal) return "refusal";
  return outcome.hasCalls ? "tool_use" : "end_turn";
}

export type StopReason = "end_turn" | "max_tokens" | "tool_use" | "refusal";

/** The details of the reason. The explanation, if any, was sent as text. */
export function toStopDetails(stopReason: StopReason): object | null {
  return stopReason === "refusal" ? { type: "refusal", category: null, explanation: null } : null;
}
