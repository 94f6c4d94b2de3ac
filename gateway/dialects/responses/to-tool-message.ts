import type { ChatMessage } from "../../wire/chat-completion.ts";
import { expectArray, expectString } from "../../wire/expect-type.ts";
import { readTool } from "./read-tool.ts";
import { toChatContent } from "./to-chat-content.ts";
import type { ToolTable } from "./tool-table.ts";

/** Converts a tool result item. Null for an item of another type. */
export function toToolMessage(
  item: Record<string, unknown>,
  param: string,
  table: ToolTable,
): ChatMessage | null {
  const { type, output, status } = item;
  switch (type) {
    case "function_call_output":
    case "custom_tool_call_output":
      return toolMessage(item, param, toChatContent(output, `${param}.output`));
    case "local_shell_call_output":
      // Older clients send the call's ID in `id`.
      return toolMessage(
        { call_id: item["call_id"] ?? item["id"] },
        param,
        expectString(output, `${param}.output`),
      );
    case "shell_call_output":
      return toolMessage(item, param, JSON.stringify(expectArray(output, `${param}.output`)));
    case "apply_patch_call_output":
      return toolMessage(item, param, JSON.stringify({ status, output }));
    case "tool_search_output":
      return toolMessage(item, param, describeFound(item["tools"], `${param}.tools`, table));
    default:
      return null;
  }
}

function toolMessage(
  item: Record<string, unknown>,
  param: string,
  content: NonNullable<ChatMessage["content"]>,
): ChatMessage {
  return { role: "tool", tool_call_id: expectString(item["call_id"], `${param}.call_id`), content };
}

/** Later requests list the tools themselves. */
function describeFound(value: unknown, param: string, table: ToolTable): string {
  const names = expectArray(value, param).flatMap((tool, index) =>
    readTool(tool, `${param}[${index}]`).definitions.map((definition) => table.chatNameOf(definition)),
  );
  return names.length === 0 ? "No tools were found." : `These tools can now be called: ${names.join(", ")}`;
}
