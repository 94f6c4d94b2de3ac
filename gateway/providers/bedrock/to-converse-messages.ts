import type { ChatMessage } from "../../wire/chat-completion.ts";
import { countJsonTexts } from "../../wire/parse-shallow-object.ts";
import { unsupported } from "../../wire/unsupported.ts";
import type { ContentBlock, ConverseMessage, SystemBlock } from "./converse-request.ts";
import { DocumentNames } from "./document-names.ts";
import type { ModelFamily } from "./model-family.ts";
import { toAssistantBlocks } from "./to-assistant-blocks.ts";
import { type Conversation, toContentBlocks, toTextBlocks } from "./to-content-blocks.ts";
import { toToolUseId } from "./tool-use-id.ts";

/**
 * A conversation in Converse's form: instructions apart, and turns of user and assistant that alternate, so what follows one
 * another in the same role becomes one turn. Results of tools are said by the user.
 */
export function toConverseMessages(
  messages: ChatMessage[],
  family: ModelFamily,
): { system: SystemBlock[]; messages: ConverseMessage[] } {
  const conversation = { family, documentNames: new DocumentNames(), jsonTexts: countJsonTexts() };
  const system: SystemBlock[] = [];
  const turns: ConverseMessage[] = [];
  for (const [index, message] of messages.entries()) {
    const param = `messages[${index}]`;
    switch (message.role) {
      case "system":
      case "developer":
        append(system, toTextBlocks(message, param, conversation));
        break;
      case "user":
        addTurn(turns, "user", toContentBlocks(message, param, conversation));
        break;
      case "assistant":
        addTurn(turns, "assistant", toAssistantBlocks(message, param, conversation));
        break;
      case "tool":
        addTurn(turns, "user", toToolResult(message, param, conversation));
        break;
      case "function":
        throw unsupported(`${param}.role`, "Use messages with the role tool instead.");
    }
  }
  return { system, messages: turns };
}

function addTurn(turns: ConverseMessage[], role: ConverseMessage["role"], content: ContentBlock[]): void {
  if (content.length === 0) return;
  const last = turns.at(-1);
  if (last?.role === role) append(last.content, content);
  else turns.push({ role, content });
}

/** One by one: a call takes only so many arguments. */
function append<T>(list: T[], items: T[]): void {
  for (const item of items) list.push(item);
}

/** Cache points come after the result: they cannot be in it. */
function toToolResult(message: ChatMessage, param: string, conversation: Conversation): ContentBlock[] {
  const blocks = toContentBlocks(message, param, conversation);
  const cachePoints = blocks.filter((block) => "cachePoint" in block).slice(0, 1);
  const content = blocks.filter((block) => !("cachePoint" in block));
  return [
    {
      toolResult: {
        toolUseId: toToolUseId(message["tool_call_id"], `${param}.tool_call_id`, conversation.family),
        // A result must have something in it that is not blank.
        content: content.length === 0 ? [{ text: "(empty)" }] : content,
      },
    },
    ...cachePoints,
  ];
}
