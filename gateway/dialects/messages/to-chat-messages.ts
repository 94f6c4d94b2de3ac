import { type ChatMessage, type ContentPart, isObject } from "../../wire/chat-completion.ts";
import { type Block, toBlocks } from "./to-blocks.ts";
import { toAssistantMessage } from "./to-assistant-message.ts";
import { toTextPart } from "./to-content-parts.ts";
import { toUserMessages } from "./to-user-messages.ts";
import { plainText } from "./plain-content.ts";

/**
 * The conversation. Turns of the same role that follow one another are one, as they are to Anthropic.
 *
 * What the system says in the middle of it is said by the user, in the tags that coding models know such notes by: most
 * upstreams take a system message at the beginning only (https://github.com/ollama/ollama/issues/17774), and moved there it
 * would change what comes before all else, which then is in no cache (https://github.com/BerriAI/litellm/issues/36559).
 * @param unavailable tools that were all that the client had, and which nobody here can run
 */
export function toChatMessages(body: Record<string, unknown>, unavailable: readonly string[]): ChatMessage[] {
  const system = toSystemParts(toBlocks(body["system"] ?? [], "system"));
  const turns: Turn[] = [];
  const given = (body["messages"] as unknown[]).filter(isObject);
  const lastOfUser = given.findLastIndex(({ role }) => role === "user");
  for (const [index, message] of given.entries()) {
    const { role, content = [], clear_at: clearAt } = message;
    const blocks = toBlocks(content, `messages[${index}].content`);
    if (role !== "system") addTurn(turns, role === "assistant" ? "assistant" : "user", blocks);
    // It is for the turn that it follows only.
    else if (clearAt === "next_user_message" && index < lastOfUser) continue;
    else if (turns.length === 0) for (const part of toSystemParts(blocks)) system.push(part);
    else addTurn(turns, "user", blocks.flatMap(toNote));
  }
  if (unavailable.length > 0) system.push({ type: "text", text: sayUnavailable(unavailable) });
  return [
    ...(system.length > 0 ? [{ role: "system" as const, content: plainText(system) }] : []),
    ...turns.flatMap(({ role, blocks }) =>
      role === "assistant" ? toAssistantMessage(blocks) : toUserMessages(blocks),
    ),
  ];
}

type Turn = { role: "user" | "assistant"; blocks: Block[] };

function addTurn(turns: Turn[], role: Turn["role"], blocks: Block[]): void {
  const last = turns.at(-1);
  if (last?.role === role) for (const block of blocks) last.blocks.push(block);
  else if (blocks.length > 0) turns.push({ role, blocks: [...blocks] });
}

/**
 * Claude Code begins with a block for Anthropic's accounting, which is different in every conversation: everything after it
 * would be in no cache.
 */
function toSystemParts(blocks: Block[]): ContentPart[] {
  return blocks
    .filter(({ type }) => type === "text")
    .flatMap(toTextPart)
    .filter(({ text }) => !String(text).startsWith("x-anthropic-billing-header:"));
}

function toNote(block: Block): Block[] {
  if (block.type !== "text") return [];
  return toTextPart(block).map(({ text, ...part }) => {
    const note = String(text).trim();
    const isTagged = note.startsWith("<system-reminder>");
    return {
      ...block,
      fields: { ...part, text: isTagged ? note : `<system-reminder>\n${note}\n</system-reminder>` },
    };
  });
}

/** Or the model would make up what they would have found: Claude Code asks it for a web search and nothing else. */
function sayUnavailable(names: readonly string[]): string {
  return `You cannot use ${names.join(", ")}: it is not available with this model. Where the task needs it, say that you could not do it; do not make up results.`;
}
