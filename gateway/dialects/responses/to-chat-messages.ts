import type { ChatMessage, ToolCall } from "../../wire/chat-completion.ts";
import {
  invalidValue,
  missing,
  expectObject,
  expectString,
  ifGiven,
  expectArray,
  unsupported,
} from "../../wire/parameter-errors.ts";
import { AssistantTurn } from "./assistant-turn.ts";
import { readSummary } from "./conversation-summary.ts";
import { toChatContent } from "./to-chat-content.ts";
import type { ToolTable } from "./tool-table.ts";
import { builtInTools, builtInTypes } from "./built-in-tools.ts";
import { readTool } from "./read-tool.ts";

/**
 * Converts a conversation to chat messages. Consecutive text, reasoning and calls of the model become one
 * assistant message.
 */
export function toChatMessages(body: Record<string, unknown>, table: ToolTable): ChatMessage[] {
  const messages: ChatMessage[] = [];
  const instructions = ifGiven(body["instructions"], "instructions", expectString) ?? "";
  if (instructions !== "") messages.push({ role: "system", content: instructions });
  const { input } = body;
  if (typeof input === "string") return [...messages, { role: "user", content: input }];

  const items: unknown[] = Array.isArray(input) ? input : [];
  const turn = new AssistantTurn();
  for (const [index, value] of items.entries()) {
    const param = `input[${index}]`;
    const item = expectObject(value, param);
    if (addToTurn(item, param, table, turn)) continue;
    const message = toMessage(item, param, table);
    if (message === null) continue;
    turn.moveTo(messages);
    messages.push(message);
  }
  turn.moveTo(messages);
  if (messages.length === 0) throw invalidValue("input", "must not be empty");
  return messages;
}

/**
 * Adds the model's text, reasoning or call to the turn, and skips items with only tools. Returns false for
 * other items.
 */
function addToTurn(
  item: Record<string, unknown>,
  param: string,
  table: ToolTable,
  turn: AssistantTurn,
): boolean {
  if (hasOnlyTools(item)) return true;
  const call = toToolCall(item, param, table);
  if (call) turn.call(call);
  else if (item["type"] === "reasoning") turn.think(item, param);
  else if (isMessage(item) && item["role"] === "assistant") turn.addText(item["content"], `${param}.content`);
  else return false;
  return true;
}

function toMessage(item: Record<string, unknown>, param: string, table: ToolTable): ChatMessage | null {
  if (isMessage(item)) return toPlainMessage(item, param);
  const summary = readSummary(item);
  if (summary !== null) return { role: "user", content: summary };
  const toolMessage = toToolMessage(item, param, table);
  if (toolMessage) return toolMessage;
  if (item["type"] === undefined) throw missing(`${param}.type`);
  const type = expectString(item["type"], `${param}.type`);
  // Codex's agents exchange messages of type `agent_message`.
  if (type === "agent_message") {
    return { role: "user", content: toChatContent(item["content"], `${param}.content`) };
  }
  if (withoutMeaningElsewhere.has(type)) return null;
  throw unsupported(
    param,
    refusals.get(type) ??
      `this provider does not support items of type "${type.slice(0, 64)}". Remove the item.`,
  );
}

function isMessage(item: Record<string, unknown>): boolean {
  return item["type"] === "message" || (item["type"] === undefined && item["role"] !== undefined);
}

function toPlainMessage(item: Record<string, unknown>, param: string): ChatMessage {
  if (item["role"] === undefined) throw missing(`${param}.role`);
  const role = expectString(item["role"], `${param}.role`);
  if (role !== "user" && role !== "system" && role !== "developer") {
    throw invalidValue(`${param}.role`, "must be one of user, assistant, system, developer", role);
  }
  return { role, content: toChatContent(item["content"], `${param}.content`) };
}

/** Whether to skip an item: the tool table already contains declared and found tools. */
function hasOnlyTools({ type, call_id: callId }: Record<string, unknown>): boolean {
  if (type === "additional_tools") return true;
  // OpenAI's own searches have no call ID.
  return (type === "tool_search_call" || type === "tool_search_output") && (callId ?? null) === null;
}

/** Items of tools that OpenAI ran in earlier turns. Chat completions have no equivalent. */
const withoutMeaningElsewhere = new Set([
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "mcp_list_tools",
  "mcp_call",
  "mcp_approval_request",
  "mcp_approval_response",
]);

const refusals = new Map([
  ["item_reference", "this gateway keeps no responses. Send the item itself, and `store: false`."],
  ["compaction", "only OpenAI can read this summary of the conversation. Send the original items."],
  ["compaction_summary", "only OpenAI can read this summary of the conversation. Send the original items."],
  ["context_compaction", "only OpenAI can read this summary of the conversation. Send the original items."],
  ["compaction_trigger", "only OpenAI's API can summarize conversations. Remove the item."],
  ["computer_call", "this provider does not support computer use. Remove the item."],
  ["computer_call_output", "this provider does not support computer use. Remove the item."],
]);

/** Returns null if the item is not a call. */
function toToolCall(item: Record<string, unknown>, param: string, table: ToolTable): ToolCall | null {
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

/** Returns null if the item is not a tool result. */
function toToolMessage(item: Record<string, unknown>, param: string, table: ToolTable): ChatMessage | null {
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

/** Returns names only, because the tool table contains the tools. */
function describeFound(value: unknown, param: string, table: ToolTable): string {
  const names = expectArray(value, param).flatMap((tool, index) =>
    readTool(tool, `${param}[${index}]`).definitions.map((definition) => table.chatNameOf(definition)),
  );
  return names.length === 0 ? "No tools were found." : `These tools can now be called: ${names.join(", ")}`;
}
