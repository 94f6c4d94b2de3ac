/**
 * Why the answer ended. Which stop sequence it was, or whether it was one, chat completions do not tell. Calls count for
 * more than the word of the upstream: some say `stop` after a call, and a client that hears `tool_use` without one waits.
 * https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
 */
export function toStopReason(
  finishReason: unknown,
  said: { hasCalls: boolean; isRefusal: boolean },
): StopReason {
  if (finishReason === "length") return "max_tokens";
  if (finishReason === "content_filter" || said.isRefusal) return "refusal";
  return said.hasCalls ? "tool_use" : "end_turn";
}

export type StopReason = "end_turn" | "max_tokens" | "tool_use" | "refusal";

/** What goes with it. The explanation, where there is one, has been said as text. */
export function toStopDetails(stopReason: StopReason): object | null {
  return stopReason === "refusal" ? { type: "refusal", category: null, explanation: null } : null;
}
