import { createHash } from "node:crypto";
import type { ChatMessage, ChatRequestBody } from "../../wire/chat-completion.ts";
import { countJsonTexts, parseArguments } from "../../wire/parse-shallow-object.ts";
import {
  unsupported,
  unsupportedValue,
  expectArray,
  expectObject,
  expectString,
  ifGiven,
} from "../../wire/parameter-errors.ts";
import type { ContentBlock, ConverseMessage, SystemBlock } from "./converse-request.ts";
import {
  DocumentNames,
  type Conversation,
  toContentBlocks,
  toTextBlocks,
  unlessBlank,
} from "./to-content-blocks.ts";
import { cachePointAfter, type ModelFamily } from "./model-family.ts";
import type { Dropped } from "../requested-thinking.ts";
import { toReasoningBlocks } from "./reasoning-details.ts";

/** Converse requires alternating turns, so consecutive messages of one role become one turn. */
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
        throw unsupportedValue(
          `${param}.role`,
          'models on Bedrock have no such role. Use the role "tool" with a tool_call_id.',
          message.role,
        );
    }
  }
  // Converse requires a message, so instructions alone, or else a placeholder, become the user's message.
  if (turns.length === 0) {
    const content = system.length > 0 ? system : [{ text: "(empty)" }];
    return { system: [], messages: [{ role: "user", content }] };
  }
  // Without the blank question at its end, the conversation would ask the model to continue its last answer.
  if (turns.at(-1)?.role === "assistant" && messages.at(-1)?.role === "user")
    turns.push({ role: "user", content: [{ text: "(empty)" }] });
  return { system, messages: turns.map(withTextBesideDocument) };
}

/**
 * A document needs a text in the same message.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html
 */
function withTextBesideDocument(turn: ConverseMessage): ConverseMessage {
  const hasDocument = turn.content.some((block) => "document" in block);
  if (!hasDocument || turn.content.some((block) => "text" in block)) return turn;
  return { ...turn, content: [{ text: "See the document." }, ...turn.content] };
}

/**
 * Puts a cache point after the last block for a top-level `cache_control`.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching#automatic-caching
 */
export function markEnd(
  body: ChatRequestBody,
  messages: ConverseMessage[],
  family: ModelFamily,
  dropped: Dropped,
): void {
  if (body["cache_control"] === undefined || body["cache_control"] === null) return;
  const [point] = cachePointAfter(body, family);
  const last = messages.at(-1)?.content;
  if (point === undefined || last === undefined) dropped.add("cache_control");
  else if (!("cachePoint" in (last.at(-1) ?? {}))) last.push(point);
}

function addTurn(turns: ConverseMessage[], role: ConverseMessage["role"], content: ContentBlock[]): void {
  if (content.length === 0) return;
  const last = turns.at(-1);
  if (last?.role === role) append(last.content, content);
  else turns.push({ role, content });
}

/** Appends one by one, because a spread could exceed the maximum number of arguments. */
function append<T>(list: T[], items: T[]): void {
  for (const item of items) list.push(item);
}

/** A cache point follows the result, because a result cannot contain one. */
function toToolResult(message: ChatMessage, param: string, conversation: Conversation): ContentBlock[] {
  const blocks = toContentBlocks(message, param, conversation);
  const cachePoints = blocks.filter((block) => "cachePoint" in block).slice(0, 1);
  const content = blocks.filter((block) => !("cachePoint" in block));
  return [
    {
      toolResult: {
        toolUseId: toToolUseId(message["tool_call_id"], `${param}.tool_call_id`, conversation.family),
        // Bedrock rejects a blank result.
        content: content.length === 0 ? [{ text: "(empty)" }] : content,
      },
    },
    ...cachePoints,
  ];
}

/** Puts reasoning before text and calls, because Claude requires this order. */
function toAssistantBlocks(message: ChatMessage, param: string, conversation: Conversation): ContentBlock[] {
  if (message["function_call"] !== undefined && message["function_call"] !== null) {
    throw unsupported(
      `${param}.function_call`,
      "models on Bedrock accept only tool calls. Use tool_calls instead.",
    );
  }
  const blocks: ContentBlock[] = [
    ...toTextBlocks(message, param, conversation),
    ...unlessBlank(ifGiven(message["refusal"], `${param}.refusal`, expectString) ?? ""),
    ...toToolUses(message["tool_calls"], `${param}.tool_calls`, conversation),
  ];
  // Bedrock rejects a turn with only reasoning.
  return blocks.length === 0
    ? []
    : [...toReasoningBlocks(message["reasoning_details"], conversation.family), ...blocks];
}

function toToolUses(calls: unknown, param: string, { family, jsonTexts }: Conversation): ContentBlock[] {
  return (ifGiven(calls, param, expectArray) ?? []).flatMap((value, index): ContentBlock[] => {
    const callParam = `${param}[${index}]`;
    const call = expectObject(value, callParam);
    if (call["type"] !== undefined && call["type"] !== "function") {
      throw unsupportedValue(
        `${callParam}.type`,
        "models on Bedrock support only function tools. Remove the tool call.",
        call["type"],
      );
    }
    const called = expectObject(call["function"], `${callParam}.function`);
    const use = {
      toolUse: {
        toolUseId: toToolUseId(call["id"], `${callParam}.id`, family),
        name: expectString(called["name"], `${callParam}.function.name`),
        input: parseArguments(
          expectString(called["arguments"], `${callParam}.function.arguments`),
          jsonTexts,
        ),
      },
    };
    return [use, ...cachePointAfter(call, family)];
  });
}

/**
 * Hashes an invalid ID in the same way for a call and its result. Even IDs from Bedrock's models can be invalid,
 * such as Kimi's `functions.get_weather:0`.
 */
function toToolUseId(id: unknown, param: string, { name }: ModelFamily): string {
  const text = expectString(id, param);
  const isTaken = (name === "mistral" ? mistralToolUseId : toolUseId).test(text);
  return isTaken ? text : createHash("sha256").update(text).digest("hex").slice(0, 9);
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html */
const toolUseId = /^[a-zA-Z0-9_-]{1,64}$/;

/** Mistral's chat template rejects all other IDs. */
const mistralToolUseId = /^[a-zA-Z0-9]{9}$/;
