import type { ChatMessage } from "../../wire/chat-completion.ts";
import { plainContent } from "./plain-content.ts";
import type { Block } from "./to-blocks.ts";
import { toContentParts } from "./to-content-parts.ts";
import { toToolMessage } from "./to-tool-message.ts";

/** A turn of the user's: what its tools gave back, which has to follow the calls at once, and then what it says. */
export function toUserMessages(blocks: Block[]): ChatMessage[] {
  const results = blocks.filter(({ type }) => type === "tool_result");
  const parts = blocks.filter(({ type }) => type !== "tool_result").flatMap(toContentParts);
  const said: ChatMessage[] = parts.length > 0 ? [{ role: "user", content: plainContent(parts) }] : [];
  return [...results.map(toToolMessage), ...said];
}
