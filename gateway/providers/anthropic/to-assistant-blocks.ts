import type { ValueCount } from "../../wire/json-layout.ts";
import { parseShallowObject } from "../../wire/parse-shallow-object.ts";
import type { ChatMessage } from "../../wire/chat-completion.ts";
import { unsupported } from "../../wire/unsupported.ts";
import { expectArray, expectObject, expectString, ifGiven } from "../../wire/expect-type.ts";
import type { ContentBlock, ToolUseBlock } from "./messages-request.ts";
import { toThoughts } from "./reasoning-details.ts";
import { toTextBlocks } from "./to-anthropic-content.ts";
import { toCacheControl } from "./to-cache-control.ts";

/**
 * What the model has said before: text, then tool calls, and its thoughts in between where they were, which is what their
 * index says. They are put in before the last block at the latest: a turn must not end with a thought.
 */
export function toAssistantBlocks(
  message: ChatMessage,
  param: string,
  jsonTexts: ValueCount,
): ContentBlock[] {
  for (const field of ["function_call", "audio"]) {
    if (message[field] !== undefined && message[field] !== null) {
      throw unsupported(`${param}.${field}`, "Claude has nothing like it.");
    }
  }
  const said = toTextBlocks(message.content, `${param}.content`);
  const refusal = ifGiven(message["refusal"], `${param}.refusal`, expectString);
  const calls = ifGiven(message["tool_calls"], `${param}.tool_calls`, expectArray) ?? [];
  const shown: ContentBlock[] = [
    ...(said.length > 0 ? said : toTextBlocks(refusal, `${param}.refusal`)),
    ...calls.map((call, index) => toToolUse(call, `${param}.tool_calls[${index}]`, jsonTexts)),
  ];
  if (shown.length === 0) return [];
  const blocks: ContentBlock[] = [];
  const thoughts = toThoughts(message["reasoning_details"]);
  for (const [count, { index, block }] of thoughts.entries()) {
    const place = Math.min(index, shown.length + count - 1);
    for (const before of shown.slice(blocks.length - count, place - count)) blocks.push(before);
    blocks.push(block);
  }
  return [...blocks, ...shown.slice(blocks.length - thoughts.length)];
}

function toToolUse(value: unknown, param: string, jsonTexts: ValueCount): ToolUseBlock {
  const call = expectObject(value, param);
  if (call["type"] === "custom") throw unsupported(`${param}.type`, "Claude calls functions only.");
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
 * Arguments that are no JSON object come from a model that was cut off, and the client wants it to see them: they are
 * wrapped as Anthropic advises. https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming
 */
function parseArguments(text: string, jsonTexts: ValueCount): Record<string, unknown> {
  if (text.trim() === "") return {};
  return parseShallowObject(text, jsonTexts) ?? { INVALID_JSON: text };
}

/** Other providers' ids may hold other characters, and a conversation may have begun with one of them. */
export function toToolUseId(id: string): string {
  return id.slice(0, idLengthMax).replaceAll(/[^\w-]/g, "_");
}

/** No provider's ids are as long; the API refuses them anyway. */
const idLengthMax = 1_024;
