import type { ChatMessage, ToolCall, ReasoningDetail, ContentPart } from "../../wire/chat-completion.ts";
import {
  invalidValue,
  missing,
  expectObject,
  expectString,
  ifGiven,
  expectArray,
  unsupported,
  invalidType,
} from "../../wire/parameter-errors.ts";
import { readSummary, openReasoning } from "./sealed-content.ts";
import { type ToolTable, readTool } from "./tools.ts";
import { builtInTools, builtInTypes } from "./built-in-tools.ts";
import { listOf } from "../../wire/json.ts";
import { countJsonTexts } from "../../wire/parse-shallow-object.ts";

/** Consecutive text, reasoning and calls of the model become one assistant message. */
export function toChatMessages(body: Record<string, unknown>, table: ToolTable): ChatMessage[] {
  const messages: ChatMessage[] = [];
  const instructions = ifGiven(body["instructions"], "instructions", expectString) ?? "";
  if (instructions !== "") messages.push({ role: "system", content: instructions });
  const { input } = body;
  if (typeof input === "string") return [...messages, { role: "user", content: input }];

  const turn = new AssistantTurn();
  for (const [index, value] of listOf(input).entries()) {
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

/** Adds the model's text, reasoning or call to the turn, and skips items with only tools. Returns false for others. */
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

/** Collects a model's text, reasoning and calls, item by item, for one assistant message. */
class AssistantTurn {
  readonly #jsonTexts = countJsonTexts();
  #texts: string[] = [];
  #refusals: string[] = [];
  #thoughts: string[] = [];
  #details: ReasoningDetail[] = [];
  /** The upstream's indexes of the collected details. */
  #places = new Set<number>();
  #calls: ToolCall[] = [];

  addText(content: unknown, param: string): void {
    const { text, refusal } = toTextAndRefusal(content, param);
    if (text !== "") this.#texts.push(text);
    if (refusal !== "") this.#refusals.push(refusal);
  }

  call(call: ToolCall): void {
    this.#calls.push(call);
  }

  /** A repeated index begins the next answer. Only its details are kept, because merged signatures would be wrong. */
  think(item: Record<string, unknown>, param: string): void {
    const sealed = ifGiven(item["encrypted_content"], `${param}.encrypted_content`, expectString);
    const details = sealed === undefined ? [] : openReasoning(sealed, this.#jsonTexts);
    if (details.some(({ index }) => index !== undefined && this.#places.has(index))) this.#forgetDetails();
    for (const detail of details) {
      this.#details.push(detail);
      if (detail.index !== undefined) this.#places.add(detail.index);
    }
    const summary = readTexts(item["summary"], `${param}.summary`);
    this.#thoughts.push(summary === "" ? readTexts(item["content"], `${param}.content`) : summary);
  }

  /** Ends the turn. Omits a turn with only reasoning, because upstreams reject messages without content. */
  moveTo(messages: ChatMessage[]): void {
    const text = joinTexts(this.#texts);
    const refusal = joinTexts(this.#refusals);
    const thoughts = joinTexts(this.#thoughts);
    const details = this.#details;
    const calls = this.#calls;
    if (text !== "" || refusal !== "" || calls.length > 0) {
      messages.push({
        role: "assistant",
        content: text === "" ? null : text,
        ...(refusal !== "" && { refusal }),
        ...(thoughts !== "" && { reasoning_content: thoughts }),
        ...(details.length > 0 && { reasoning_details: details }),
        ...(calls.length > 0 && { tool_calls: calls }),
      });
    }
    this.#texts = [];
    this.#refusals = [];
    this.#thoughts = [];
    this.#calls = [];
    this.#forgetDetails();
  }

  #forgetDetails(): void {
    this.#details = [];
    this.#places.clear();
  }
}

function readTexts(value: unknown, param: string): string {
  const parts = ifGiven(value, param, expectArray) ?? [];
  const texts = parts.map((part, index) => {
    const at = `${param}[${index}]`;
    return expectString(expectObject(part, at)["text"], `${at}.text`);
  });
  return joinTexts(texts);
}

/** Text-only content becomes one string, because not every upstream accepts a list of parts. */
function toChatContent(content: unknown, param: string): string | ContentPart[] {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw invalidType(param, "a string or an array of content parts", content);
  const parts = content.map((part, index) => toChatPart(part, `${param}[${index}]`));
  const texts = parts.flatMap(({ type, text }) => (type === "text" ? String(text) : []));
  return texts.length === parts.length ? joinTexts(texts) : parts;
}

/** Converts the content of an earlier assistant message. */
function toTextAndRefusal(content: unknown, param: string): { text: string; refusal: string } {
  if (typeof content === "string") return { text: content, refusal: "" };
  let text = "";
  let refusal = "";
  for (const [index, value] of expectArray(content, param).entries()) {
    const at = `${param}[${index}]`;
    const part = expectObject(value, at);
    if (part["type"] === "refusal") refusal += expectString(part["refusal"], `${at}.refusal`);
    else text += readText(part, at) ?? refuse(part, at);
  }
  return { text, refusal };
}

function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

function toChatPart(value: unknown, param: string): ContentPart {
  const part = expectObject(value, param);
  const text = readText(part, param);
  if (text !== null) return { type: "text", text };
  switch (part["type"]) {
    case "input_image":
      return toImagePart(part, param);
    case "input_file":
      return toFilePart(part, param);
    case "input_audio":
      return { type: "input_audio", input_audio: expectObject(part["input_audio"], `${param}.input_audio`) };
    default:
      return refuse(part, param);
  }
}

function readText(part: Record<string, unknown>, param: string): string | null {
  const type = expectString(part["type"], `${param}.type`);
  // Rejecting the part would end a conversation that began with an OpenAI model.
  if (type === "encrypted_content") return "[Encrypted by OpenAI, not readable by this model.]";
  return textTypes.has(type) ? expectString(part["text"], `${param}.text`) : null;
}

const textTypes = new Set(["input_text", "output_text", "text", "summary_text", "reasoning_text"]);

function toImagePart(part: Record<string, unknown>, param: string): ContentPart {
  refuseFileId(part, param);
  const url = expectString(part["image_url"], `${param}.image_url`);
  const detail = ifGiven(part["detail"], `${param}.detail`, expectString);
  // In chat completions, the highest `detail` is `high`.
  const known = detail === "original" ? "high" : detail;
  return { type: "image_url", image_url: { url, ...(known !== undefined && { detail: known }) } };
}

/** Sends a URL unchanged, because some providers fetch files themselves. */
function toFilePart(part: Record<string, unknown>, param: string): ContentPart {
  refuseFileId(part, param);
  const url = ifGiven(part["file_url"], `${param}.file_url`, expectString);
  const data = url ?? expectString(part["file_data"], `${param}.file_data`);
  const filename = ifGiven(part["filename"], `${param}.filename`, expectString);
  return { type: "file", file: { file_data: data, ...(filename !== undefined && { filename }) } };
}

function refuseFileId(part: Record<string, unknown>, param: string): void {
  if (ifGiven(part["file_id"], `${param}.file_id`, expectString) === undefined) return;
  throw unsupported(`${param}.file_id`, "the gateway does not store files. Send the file itself.");
}

function refuse(part: Record<string, unknown>, param: string): never {
  const type = String(part["type"]).slice(0, 64);
  throw unsupported(
    `${param}.type`,
    `this provider does not accept parts of type "${type}" here. Remove the part.`,
  );
}
