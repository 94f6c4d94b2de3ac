import { type AssistantMessage, isObject } from "../../wire/chat-completion.ts";
import type { ChatAnswer } from "../provider.ts";
import { readFinishReason, readRefusal } from "./read-finish-reason.ts";
import { readToolCall } from "./read-tool-call.ts";
import { readReasoningDetail } from "./reasoning-details.ts";
import { readUsage } from "./read-usage.ts";

/** A whole answer. Throws for what is none. https://platform.claude.com/docs/en/api/messages/create */
export function readMessage(answer: unknown): ChatAnswer {
  if (!isObject(answer)) throw new Error("It is no message.");
  const { content, stop_reason: stopReason, stop_details: stopDetails, usage } = answer;
  if (!Array.isArray(content)) throw new Error("The message has no content.");
  if (typeof stopReason !== "string") throw new Error("The message has no end.");
  return {
    choices: [
      {
        index: 0,
        message: readContent(content, readRefusal(stopDetails)),
        logprobs: null,
        finish_reason: readFinishReason(stopReason),
      },
    ],
    usage: readUsage(usage),
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
  const saysElse = calls.length > 0 || refusal !== null;
  const reasoningDetails = details.flat();
  return {
    role: "assistant",
    content: text === "" && saysElse ? null : text,
    refusal,
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(reasoningDetails.length > 0 && { reasoning_details: reasoningDetails }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
