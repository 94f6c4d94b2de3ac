import type { ChatMessage } from "../../wire/chat-completion.ts";
import type { ValueCount } from "../../wire/json.ts";
import { countJsonTexts, parseArguments } from "../../wire/parse-shallow-object.ts";
import {
  unsupported,
  unsupportedValue,
  expectString,
  expectArray,
  expectObject,
  ifGiven,
} from "../../wire/parameter-errors.ts";
import type {
  AnthropicMessage,
  TextBlock,
  ToolResultBlock,
  ContentBlock,
  ToolUseBlock,
} from "./messages-request.ts";
import {
  toAnthropicContent,
  toTextBlocks,
  toCacheControl,
  withCacheControl,
} from "./to-anthropic-content.ts";
import { toThoughts } from "./reasoning-details.ts";

/**
 * Moves instructions from any position to `system`, like Anthropic's OpenAI-compatible API. Other messages
 * become alternating turns, and tool messages belong to the user's turns.
 * https://platform.claude.com/docs/en/api/openai-sdk
 */
export function toAnthropicMessages(chat: ChatMessage[]): {
  system: TextBlock[];
  messages: AnthropicMessage[];
} {
  const system: TextBlock[] = [];
  const messages: AnthropicMessage[] = [];
  const jsonTexts = countJsonTexts();
  for (const [index, message] of chat.entries()) {
    const param = `messages[${index}]`;
    if (message.role === "system" || message.role === "developer") {
      append(system, withCacheControl(toTextBlocks(message.content, `${param}.content`), message, param));
      continue;
    }
    const turn = toTurn(message, param, jsonTexts);
    const last = messages.at(-1);
    if (last?.role === turn.role) append(last.content, turn.content);
    else if (turn.content.length > 0) messages.push(turn);
  }
  // Claude requires a message, so instructions alone become a user message.
  if (messages.length === 0 && system.length > 0) {
    return { system: [], messages: [{ role: "user", content: system }] };
  }
  // Without the blank question at its end, the conversation would ask Claude to continue its last answer.
  if (messages.at(-1)?.role !== "user" && chat.at(-1)?.role === "user")
    messages.push({ role: "user", content: [{ type: "text", text: "(empty)" }] });
  trimBeginning(messages.at(-1));
  return { system, messages };
}

function toTurn(message: ChatMessage, param: string, jsonTexts: ValueCount): AnthropicMessage {
  switch (message.role) {
    case "assistant":
      return {
        role: "assistant",
        content: withCacheControl(toAssistantBlocks(message, param, jsonTexts), message, param),
      };
    case "tool":
      return { role: "user", content: [toToolResult(message, param)] };
    case "user": {
      const content = toAnthropicContent(message.content, `${param}.content`);
      return { role: "user", content: withCacheControl(content, message, param) };
    }
    default:
      throw unsupportedValue(
        `${param}.role`,
        'Claude has no such role. Use the role "tool" with a tool_call_id.',
        message.role,
      );
  }
}

/** Appends one by one, because a spread could exceed the maximum number of arguments. */
function append<T>(list: T[], more: T[]): void {
  for (const item of more) list.push(item);
}

function toToolResult(message: ChatMessage, param: string): ToolResultBlock {
  const content = toAnthropicContent(message.content, `${param}.content`);
  return {
    type: "tool_result",
    tool_use_id: toToolUseId(expectString(message["tool_call_id"], `${param}.tool_call_id`)),
    content: content.length > 0 ? content : undefined,
    cache_control: toCacheControl(message, param),
  };
}

/** Trims a prefilled answer, because the API answers 400 to trailing whitespace. */
function trimBeginning(last: AnthropicMessage | undefined): void {
  const block = last?.role === "assistant" ? last.content.at(-1) : undefined;
  if (block?.type === "text") block.text = block.text.trimEnd();
}

/**
 * Converts an earlier assistant message: text, tool calls, and thinking blocks at their indexes. Thinking
 * precedes the last block, because a turn must not end with thinking.
 */
export function toAssistantBlocks(
  message: ChatMessage,
  param: string,
  jsonTexts: ValueCount,
): ContentBlock[] {
  for (const field of ["function_call", "audio"]) {
    if (message[field] !== undefined && message[field] !== null) {
      throw unsupported(`${param}.${field}`, "Claude has no equivalent. Remove the field.");
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
  if (call["type"] === "custom")
    throw unsupportedValue(
      `${param}.type`,
      "Claude supports only function tools. Remove the tool call.",
      call["type"],
    );
  const { name, arguments: args } = expectObject(call["function"], `${param}.function`);
  return {
    type: "tool_use",
    id: toToolUseId(expectString(call["id"], `${param}.id`)),
    name: expectString(name, `${param}.function.name`),
    input: parseArguments(expectString(args, `${param}.function.arguments`), jsonTexts),
    cache_control: toCacheControl(call, param),
  };
}

/** Replaces characters that Anthropic rejects. Other providers' IDs in a conversation may contain them. */
function toToolUseId(id: string): string {
  return id.slice(0, idLengthMax).replaceAll(/[^\w-]/g, "_");
}

/** The API rejects longer IDs. Known providers' IDs are shorter. */
const idLengthMax = 1_024;
