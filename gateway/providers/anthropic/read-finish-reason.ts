import { type FinishReason, isObject } from "../../wire/chat-completion.ts";

/** https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons */
export function readFinishReason(stopReason: string): FinishReason {
  // More of them may come within the same version of the API, for answers that are complete.
  return Object.hasOwn(finishReasons, stopReason)
    ? finishReasons[stopReason as keyof typeof finishReasons]
    : "stop";
}

const finishReasons = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  /** It would go on if it got its own words back. */
  pause_turn: "length",
  refusal: "content_filter",
} satisfies Record<string, FinishReason>;

/** Why it refused, in words; null where it did not, or does not say. */
export function readRefusal(stopDetails: unknown): string | null {
  const explanation = isObject(stopDetails) ? stopDetails["explanation"] : null;
  return typeof explanation === "string" && explanation !== "" ? explanation : null;
}
