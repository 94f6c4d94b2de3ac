import type { FinishReason } from "../../wire/chat-completion.ts";
import { upstreamReported } from "../../wire/bad-answer.ts";
import { isObject } from "../../wire/json.ts";
import { reportedError } from "../../wire/reported-error.ts";

/**
 * Returns null while the choice continues. Throws `upstreamReported(…)` for failures, such as vLLM's `abort`, and for
 * unknown reasons.
 */
export function readFinishReason(choice: Record<string, unknown>): FinishReason | null {
  const { finish_reason: reason, error } = choice;
  // Some upstreams send an empty text until the end.
  if (typeof reason !== "string" || reason === "") return null;
  const known = finishReasons.get(reason.toLowerCase());
  if (known !== undefined) return known;
  if (isObject(error) || typeof error === "string") throw reportedError(error);
  const shown = /^[\w.-]{1,64}$/.test(reason) ? `the reason ${reason}` : "an unknown reason";
  throw upstreamReported(`The provider ended its response with ${shown}. Retry the request.`);
}

/** OpenAI's reasons, and those of its imitators. */
const finishReasons = new Map<string, FinishReason>([
  ["stop", "stop"],
  ["eos", "stop"],
  ["eos_token", "stop"],
  ["stop_sequence", "stop"],
  ["end_turn", "stop"],
  ["complete", "stop"],
  ["completed", "stop"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["max_output_tokens", "length"],
  // Mistral returns `model_length` for a full context.
  ["model_length", "length"],
  ["tool_calls", "tool_calls"],
  ["tool_call", "tool_calls"],
  ["tool_use", "tool_calls"],
  ["function_call", "tool_calls"],
  ["content_filter", "content_filter"],
  ["content_filtered", "content_filter"],
  ["safety", "content_filter"],
  ["refusal", "content_filter"],
  // Zhipu's name.
  ["sensitive", "content_filter"],
]);
