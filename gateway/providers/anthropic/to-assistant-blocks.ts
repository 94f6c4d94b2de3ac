import type { ValueCount } from "../../wire/json.ts";
import { parseShallowObject } from "../../wire/parse-shallow-object.ts";
import type { ChatMessage } from "../../wire/chat-completion.ts";
import { unsupported } from "../../wire/unsupported.ts";
import { expectArray, expectObject, expectString, ifGiven } from "../../wire/expect-type.ts";
import type { ContentBlock, ToolUseBlock } from "./messages-request.ts";
import { toThoughts } from "./reasoning-details.ts";
import { toTextBlocks } from "./to-anthropic-content.ts";
import { toCacheControl } from "./to-cache-control.ts";

/**
 * Converts an earlier assistant message: text, tool calls, and thinking blocks at their indexes. Thinking
 * precedes the last block, because a turn must not end with it.
 */
export function toAssistantBlocks(
  message: ChatMessage,
  param: string,
  jsonTexts: ValueCount,
): ContentBlock[] {
  for (const field of ["function_call", "audio"]) {
    if (message[field] !== undefined && message[field] !== null) {
      throw unsupported(`${param}.${field}`, "Claude has no equivalent.");
    }
  }
  const textBlocks = toTextBlocks(message.content, `${param}.content`);
  const refusal = ifGiven(message["refusal"], `${param}.refusal`, expectString);
  const calls = ifGiven(message["tool_calls"], `${param}.tool_calls`, expectArray) ?? [];
  const shown: ContentBlock[] = [
    ...(textBlocks.length > 0 ? textBlocks : toTextBlocks(refusal, `${param}.refusal`)),
    ...calls.map((call, index) => toToolUse(call, `${param}.tool_calls[${index}]`, jsonTexts)),
  ];
  if (shown.length === 0) return [];
  const blocks: ContentBlock[] = [];
  const thoughts = toThoughts(message["reasoning_details"]);
  for (const [count, { index, block }] of thoughts.entries()) {
    const position = Math.min(index, shown.length + count - 1);
    for (const before of shown.slice(blocks.length - count, position - count)) blocks.push(before);
    blocks.push(block);
  }
  return [...blocks, ...shown.slice(blocks.length - thoughts.length)];
}

function toToolUse(value: unknown, param: string, jsonTexts: ValueCount): ToolUseBlock {
  const call = expectObject(value, param);
  if (call["type"] === "custom") throw unsupported(`${param}.type`, "Claude supports only function tools.");
  const { name, arguments: args } = expectObject(call["function"], `${param}.function`);
  return {
    type: "tool_use",
    id: toToolUseId(expectString(call["id"], `${param}.id`)),
    name: expectString(name, `${param}.function.name`),
    input: parseArguments(expectString(args, `${param}.function.arguments`), jsonTexts),
    cache_control: toCacheControl(call, param),
  };
}

/**
 * A truncated response may have invalid arguments, which the model should still see. Anthropic recommends
 * this wrapper. https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming
 */
function parseArguments(text: string, jsonTexts: ValueCount): Record<string, unknown> {
  if (text.trim() === "") return {};
  return parseShallowObject(text, jsonTexts) ?? { INVALID_JSON: text };
}

/** Converts IDs with other characters, from a conversation that started with another provider. */
export function toToolUseId(id: string): string {
  return id.slice(0, idLengthMax).replaceAll(/[^\w-]/g, "_");
}

/** All providers' IDs are shorter, and the API rejects longer ones. */
const idLengthMax = 1_024;
