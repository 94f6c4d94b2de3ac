import type { FinishReason } from "../../wire/chat-completion.ts";
import { upstreamReported } from "../upstream-reported.ts";

/**
 * Why the model stopped. What is neither a regular end nor a limit's or a filter's is a failure, such as
 * `malformed_model_output`, or a reason nobody knows yet: throws `upstreamReported(…)`.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_ResponseSyntax
 */
export function readStopReason(reason: unknown, hasToolCalls: boolean): FinishReason {
  const name = typeof reason === "string" ? reason : "none";
  const known = finishReasons.get(name);
  if (known === undefined) throw upstreamReported(`The model stopped for the reason ${name}.`);
  // Not every model says that it has called a tool.
  return known === "stop" && hasToolCalls ? "tool_calls" : known;
}

const finishReasons = new Map<string, FinishReason>([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "tool_calls"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["content_filtered", "content_filter"],
  ["guardrail_intervened", "content_filter"],
]);
