import type { ChatMessage, ContentPart, ReasoningDetail, ToolCall } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import {
  type Block,
  toBlocks,
  toTextPart,
  toContentParts,
  withMarker,
  plainText,
  plainContent,
  describeBlock,
} from "./content-blocks.ts";
import { expectString, expectObject, ifGiven } from "../../wire/parameter-errors.ts";
import { toFunctionName } from "../dialect.ts";
import { fromToolUseId } from "./tools.ts";
import { toReasoningDetail } from "./sealed-detail.ts";

/**
 * Joins consecutive turns of one role, like Anthropic's API. System messages after the start become user text in
 * `<system-reminder>` tags: see "System messages" in `dialects/README.md`.
 * @param unavailable the names of the omitted tools, if the request has no other tools
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
    // With this `clear_at`, a system message applies only until the next user message.
    else if (clearAt === "next_user_message" && index < lastOfUser) continue;
    else if (turns.length === 0) for (const part of toSystemParts(blocks)) system.push(part);
    else addTurn(turns, "user", blocks.flatMap(toNote));
  }
  if (unavailable.length > 0) system.push({ type: "text", text: noteUnavailable(unavailable) });
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

/** Omits Claude Code's block for Anthropic's billing, which differs in every conversation and would prevent caching. */
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

/** Stops the model from inventing results: Claude Code sends requests whose only tool is web search. */
function noteUnavailable(names: readonly string[]): string {
  return `These tools are not available with this model: ${names.join(", ")}. If the task needs one, say that you could not do it. Do not invent results.`;
}

/** Converts a user turn: tool results, which must directly follow the calls, then the user's content. */
function toUserMessages(blocks: Block[]): ChatMessage[] {
  const results = blocks.filter(({ type }) => type === "tool_result");
  const parts = blocks.filter(({ type }) => type !== "tool_result").flatMap(toContentParts);
  // A blank turn stays, because an answer without a question would become a prefilled one.
  const isTurn = parts.length > 0 || results.length === 0;
  const userMessages: ChatMessage[] = isTurn ? [{ role: "user", content: plainContent(parts) }] : [];
  return [...results.map(toToolMessage), ...userMessages];
}

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls */
function toToolMessage(block: Block): ChatMessage {
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

/** Chat completions have no field for tool errors. */
function markError(parts: ContentPart[]): ContentPart[] {
  const [first, ...rest] = parts;
  if (first?.type !== "text") return [{ type: "text", text: "The tool failed." }, ...parts];
  const text = String(first["text"]);
  return /^\W*(tool_use_)?error\b/i.test(text.slice(0, 64))
    ? parts
    : [{ ...first, text: `Error: ${text}` }, ...rest];
}

/**
 * Converts an assistant turn. Details in Anthropic's format contain their position among text and calls, because
 * Claude requires the original order.
 */
function toAssistantMessage(blocks: Block[]): ChatMessage {
  const textParts: ContentPart[] = [];
  const calls: ToolCall[] = [];
  const thoughts: string[] = [];
  const details: ReasoningDetail[] = [];
  for (const block of blocks) {
    const position = textParts.length + calls.length + details.length;
    switch (block.type) {
      case "text":
        textParts.push(...toTextPart(block));
        break;
      case "tool_use":
        calls.push(toToolCall(block));
        break;
      case "thinking":
      case "redacted_thinking": {
        const { text, detail } = readThought(block, position);
        if (text !== "") thoughts.push(text);
        if (detail) details.push(detail);
        break;
      }
      default: {
        // Anthropic's server tools have already run, so an unknown result type must not fail the request.
        const text = describeBlock(block);
        if (text) textParts.push({ type: "text", text });
      }
    }
  }
  return {
    role: "assistant",
    content: toContent(textParts, calls.length > 0, details.length > 0),
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join("\n\n") }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function toToolCall(block: Block): ToolCall {
  const { fields, param } = block;
  const { id, name } = fields;
  const input = ifGiven(fields["input"], `${param}.input`, expectObject) ?? {};
  return withMarker(
    {
      id: fromToolUseId(expectString(id, `${param}.id`)),
      type: "function" as const,
      function: {
        name: toFunctionName(expectString(name, `${param}.name`)),
        arguments: JSON.stringify(input),
      },
    },
    block,
  );
}

function readThought(
  { type, fields, param }: Block,
  position: number,
): { text: string; detail: ReasoningDetail | null } {
  if (type === "redacted_thinking") {
    const data = expectString(fields["data"], `${param}.data`);
    return { text: "", detail: toReasoningDetail(data, null, position) };
  }
  const text = ifGiven(fields["thinking"], `${param}.thinking`, expectString) ?? "";
  const signature = ifGiven(fields["signature"], `${param}.signature`, expectString) ?? "";
  return { text, detail: toReasoningDetail(signature, text, position) };
}

/** Prefers one string, which every upstream accepts. Parts keep a cache marker or the position of reasoning. */
function toContent(
  textParts: ContentPart[],
  hasCalls: boolean,
  hasPositions: boolean,
): ChatMessage["content"] {
  if (textParts.length === 0) return hasCalls ? null : "";
  return hasPositions ? plainContent(textParts) : plainText(textParts);
}
