import type { ChatMessage } from "../../wire/chat-completion.ts";
import type { ValueCount } from "../../wire/json.ts";
import { countJsonTexts } from "../../wire/parse-shallow-object.ts";
import { unsupported } from "../../wire/unsupported.ts";
import { expectString } from "../../wire/expect-type.ts";
import type { AnthropicMessage, TextBlock, ToolResultBlock } from "./messages-request.ts";
import { toAnthropicContent, toTextBlocks } from "./to-anthropic-content.ts";
import { toAssistantBlocks, toToolUseId } from "./to-assistant-blocks.ts";
import { toCacheControl, withCacheControl } from "./to-cache-control.ts";

/**
 * Extracts the instructions from any position, as Anthropic's OpenAI compatibility does. Other messages
 * become alternating turns. User and tool messages belong to the user's turns.
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
  trimBeginning(messages.at(-1));
  // Claude requires a message, so instructions alone become a user message.
  if (messages.length === 0 && system.length > 0) {
    return { system: [], messages: [{ role: "user", content: system }] };
  }
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
      throw unsupported(`${param}.role`, "Use the role `tool` with a `tool_call_id`.");
  }
}

/** Appends one by one, because spreading a client's blocks could exceed the limit of arguments. */
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
