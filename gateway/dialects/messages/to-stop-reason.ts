/**
 * The stop reason. Calls override the upstream's reason: some upstreams send `stop` after a call, but clients
 * run calls only after `tool_use`.
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

/** The details of the stop reason. An explanation was sent as text. */
export function toStopDetails(stopReason: StopReason): object | null {
  return stopReason === "refusal" ? { type: "refusal", category: null, explanation: null } : null;
}
