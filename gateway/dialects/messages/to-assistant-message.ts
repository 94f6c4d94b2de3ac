import type { ChatMessage, ContentPart, ReasoningDetail, ToolCall } from "../../wire/chat-completion.ts";
import { expectObject, expectString, ifGiven } from "../../wire/parameter-errors.ts";
import { plainContent, plainText } from "./plain-content.ts";
import { describeBlock } from "./describe-block.ts";
import { toFunctionName, fromToolUseId } from "./current-tools.ts";
import type { Block } from "./to-blocks.ts";
import { toReasoningDetail } from "./sealed-detail.ts";
import { toTextPart, withMarker } from "./to-content-parts.ts";

/**
 * Converts an assistant turn. Details in Anthropic's format contain their position among text and calls, because
 * Claude requires the original order.
 */
export function toAssistantMessage(blocks: Block[]): ChatMessage {
  const textParts: ContentPart[] = [];
  const calls: ToolCall[] = [];
  const thoughts: string[] = [];
  const details: ReasoningDetail[] = [];
  for (const block of blocks) {
    const position = textParts.length + calls.length + details.length;
    switch (block.type) {
      case "text":
        textParts.push(...toTextPart(block));
        break;
      case "tool_use":
        calls.push(toToolCall(block));
        break;
      case "thinking":
      case "redacted_thinking": {
        const { text, detail } = readThought(block, position);
        if (text !== "") thoughts.push(text);
        if (detail) details.push(detail);
        break;
      }
      default: {
        // Anthropic's server tools have already run, so an unknown result type must not fail the request.
        const text = describeBlock(block);
        if (text) textParts.push({ type: "text", text });
      }
    }
  }
  return {
    role: "assistant",
    content: toContent(textParts, calls.length > 0, details.length > 0),
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join("\n\n") }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function toToolCall(block: Block): ToolCall {
  const { fields, param } = block;
  const { id, name } = fields;
  const input = ifGiven(fields["input"], `${param}.input`, expectObject) ?? {};
  return withMarker(
    {
      id: fromToolUseId(expectString(id, `${param}.id`)),
      type: "function" as const,
      function: {
        name: toFunctionName(expectString(name, `${param}.name`)),
        arguments: JSON.stringify(input),
      },
    },
    block,
  );
}

function readThought(
  { type, fields, param }: Block,
  position: number,
): { text: string; detail: ReasoningDetail | null } {
  if (type === "redacted_thinking") {
    const data = expectString(fields["data"], `${param}.data`);
    return { text: "", detail: toReasoningDetail({ type: "redacted", data }, position) };
  }
  const text = ifGiven(fields["thinking"], `${param}.thinking`, expectString) ?? "";
  const signature = ifGiven(fields["signature"], `${param}.signature`, expectString) ?? "";
  return { text, detail: toReasoningDetail({ type: "thinking", text, signature }, position) };
}

/**
 * Prefers one string, which every upstream accepts. Returns parts if a string would lose a cache marker or
 * the position of reasoning.
 */
function toContent(
  textParts: ContentPart[],
  hasCalls: boolean,
  hasPositions: boolean,
): ChatMessage["content"] {
  if (textParts.length === 0) return hasCalls ? null : "";
  return hasPositions ? plainContent(textParts) : plainText(textParts);
}
