import type { AssistantMessage, FinishReason, ToolCall, ChatUsage } from "../../wire/chat-completion.ts";
import { isObject, textOf } from "../../wire/json.ts";
import type { ChatAnswer } from "../provider.ts";
import { readReasoningDetail } from "./reasoning-details.ts";
import { readMessagesUsage, type UsageDetails } from "../../wire/token-usage.ts";

/** Throws for a malformed response. https://platform.claude.com/docs/en/api/messages/create */
export function readMessage(answer: unknown): ChatAnswer {
  if (!isObject(answer)) throw new Error("The response is not a message.");
  const { content, stop_reason: stopReason, stop_details: stopDetails, usage } = answer;
  if (!Array.isArray(content)) throw new Error("The message has no content.");
  if (typeof stopReason !== "string") throw new Error("The message has no stop reason.");
  return {
    choices: [
      {
        index: 0,
        message: readContent(content, readRefusal(stopDetails)),
        logprobs: null,
        finish_reason: readFinishReason(stopReason),
      },
    ],
    ...readUsage(usage),
  };
}

function readContent(blocks: unknown[], refusal: string | null): AssistantMessage {
  let text = "";
  let reasoning = "";
  const details = [];
  const calls = [];
  for (const [index, block] of blocks.entries()) {
    if (!isObject(block)) continue;
    if (block["type"] === "text") text += textOf(block["text"]);
    if (block["type"] === "tool_use") calls.push(readToolCall(block));
    if (block["type"] === "thinking" || block["type"] === "redacted_thinking") {
      reasoning += textOf(block["thinking"]);
      details.push(readReasoningDetail(block, index) ?? []);
    }
  }
  const hasOtherContent = calls.length > 0 || refusal !== null;
  const reasoningDetails = details.flat();
  return {
    role: "assistant",
    content: text === "" && hasOtherContent ? null : text,
    refusal,
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(reasoningDetails.length > 0 && { reasoning_details: reasoningDetails }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

export function readToolCall({ id, name, input }: Record<string, unknown>): ToolCall {
  if (typeof id !== "string" || typeof name !== "string") throw new Error("The tool call is malformed.");
  return {
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(isObject(input) ? input : {}) },
  };
}

/** https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons */
export function readFinishReason(stopReason: string): FinishReason {
  // A complete response may have an unknown reason, because Anthropic adds reasons within an API version.
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
  /** A paused turn continues only if the client returns the response. */
  pause_turn: "length",
  refusal: "content_filter",
} satisfies Record<string, FinishReason>;

export function readRefusal(stopDetails: unknown): string | null {
  const explanation = isObject(stopDetails) ? stopDetails["explanation"] : null;
  return typeof explanation === "string" && explanation !== "" ? explanation : null;
}

export type ReadUsage = { usage: Partial<ChatUsage> | null; usageDetails: UsageDetails | undefined };

/** Merges the usage objects of one response, because a stream reports usage in several events. */
export function readUsage(...reports: unknown[]): ReadUsage {
  const usage = readMessagesUsage(...reports);
  if (usage === null) return { usage: null, usageDetails: undefined };
  const { cached, cacheWrite, reasoning, details } = usage;
  const { input, output } = usage;
  const prompt = input === null ? null : input + (cached ?? 0) + (cacheWrite ?? 0);
  return {
    usage: {
      ...(prompt !== null && { prompt_tokens: prompt }),
      ...(output !== null && { completion_tokens: output }),
      ...(prompt !== null && output !== null && { total_tokens: prompt + output }),
      prompt_tokens_details: {
        ...(cached !== null && { cached_tokens: cached }),
        ...(cacheWrite !== null && { cache_write_tokens: cacheWrite }),
      },
      ...(reasoning !== null && { completion_tokens_details: { reasoning_tokens: reasoning } }),
    },
    usageDetails: details,
  };
}
