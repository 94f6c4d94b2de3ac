import type { ChatMessage, ContentPart } from "../../wire/chat-completion.ts";
import { expectString } from "../../wire/expect-type.ts";
import { plainText } from "./plain-content.ts";
import { type Block, toBlocks } from "./to-blocks.ts";
import { toContentParts, withMarker } from "./to-content-parts.ts";
import { fromToolUseId } from "./tool-use-id.ts";

/** What a tool gave back. https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls */
export function toToolMessage(block: Block): ChatMessage {
  const { fields, param } = block;
  const { tool_use_id: id, content, is_error: isError } = fields;
  const parts = toBlocks(content ?? [], `${param}.content`).flatMap(toContentParts);
  const message: ChatMessage = {
    role: "tool",
    tool_call_id: fromToolUseId(expectString(id, `${param}.tool_use_id`)),
    content: plainText(isError === true ? markError(parts) : parts),
  };
  return withMarker(message, block);
}

/** Chat completions have no field for it. */
function markError(parts: ContentPart[]): ContentPart[] {
  const [first, ...rest] = parts;
  if (first?.type !== "text") return [{ type: "text", text: "The tool failed." }, ...parts];
  const text = String(first["text"]);
  return /^\W*(tool_use_)?error\b/i.test(text.slice(0, 64))
    ? parts
    : [{ ...first, text: `Error: ${text}` }, ...rest];
}
