import type { ToolCall } from "../../wire/chat-completion.ts";
import { expectString, ifGiven } from "../../wire/expect-type.ts";
import { builtInTools, builtInTypes } from "./built-in-tools.ts";
import type { ToolTable } from "./tool-table.ts";

/** Converts an item back to the model's call. Null for an item of another type. */
export function toToolCall(item: Record<string, unknown>, param: string, table: ToolTable): ToolCall | null {
  switch (item["type"]) {
    case "function_call": {
      const args = expectString(item["arguments"], `${param}.arguments`);
      return toNamedCall("function", item, param, table, args);
    }
    case "custom_tool_call": {
      const input = expectString(item["input"], `${param}.input`);
      return toNamedCall("custom", item, param, table, JSON.stringify({ input }));
    }
    default: {
      const type = builtInTypes.find((each) => builtInTools[each].callType === item["type"]);
      if (type === undefined) return null;
      const args = JSON.stringify(builtInTools[type].toArguments(item));
      return formatCall(item, param, table.chatNameOf({ kind: type, namespace: null, name: type }), args);
    }
  }
}

function toNamedCall(
  kind: "function" | "custom",
  item: Record<string, unknown>,
  param: string,
  table: ToolTable,
  args: string,
): ToolCall {
  const name = expectString(item["name"], `${param}.name`);
  const namespace = ifGiven(item["namespace"], `${param}.namespace`, expectString) ?? null;
  return formatCall(item, param, table.chatNameOf({ kind, namespace, name }), args);
}

function formatCall(item: Record<string, unknown>, param: string, name: string, args: string): ToolCall {
  const id = expectString(item["call_id"], `${param}.call_id`);
  return { id, type: "function", function: { name, arguments: args } };
}
