import type {
  AssistantMessage,
  ChunkChoice,
  ChunkDelta,
  FinishReason,
  ToolCall,
} from "../../wire/chat-completion.ts";
import { isObject, textOf } from "../../wire/json.ts";
import type { UpstreamEvent } from "../../wire/server-sent-events.ts";
import { readMessagesUsage, type UsageDetails } from "../../wire/token-usage.ts";
import type { ChatAnswer, ChatStreamReader } from "../provider.ts";
import { reportedError } from "../../wire/reported-error.ts";
import { parseEvent } from "../../wire/parse-upstream.ts";
import { isText, readReasoningDetail } from "./reasoning-details.ts";

/** https://platform.claude.com/docs/en/build-with-claude/streaming */
export class MessageStreamReader implements ChatStreamReader {
  usage: ChatAnswer["usage"] = null;
  usageDetails: UsageDetails | undefined;
  state: ChatStreamReader["state"] = "unfinished";
  #usageAtStart: unknown = null;
  #usageAtEnd: unknown = null;
  /** The open tool calls, by the index of their block. */
  readonly #openCalls = new Map<unknown, OpenCall>();
  #callCount = 0;

  read({ name, data }: UpstreamEvent): ChunkChoice[] {
    if (name === "ping") return [];
    const event = parseEvent(data);
    switch (event["type"]) {
      case "message_start":
        this.#usageAtStart = fieldsOf(event["message"])["usage"];
        Object.assign(this, readUsage(this.#usageAtStart, this.#usageAtEnd));
        return [];
      case "content_block_start":
        return this.#readBlockStart(event["index"], fieldsOf(event["content_block"]));
      case "content_block_delta":
        return this.#readBlockDelta(event["index"], fieldsOf(event["delta"]));
      case "content_block_stop":
        return this.#readBlockStop(event["index"]);
      case "message_delta":
        this.#usageAtEnd = event["usage"] ?? this.#usageAtEnd;
        Object.assign(this, readUsage(this.#usageAtStart, this.#usageAtEnd));
        return this.#readFinish(fieldsOf(event["delta"]));
      case "message_stop":
        if (this.state === "unfinished") throw new Error("The message has no stop reason.");
        this.state = "ended";
        return [];
      case "error":
        throw reportedError(event["error"], "mid-stream");
      default:
        return [];
    }
  }

  #readBlockStart(blockIndex: unknown, block: Fields): ChunkChoice[] {
    if (block["type"] !== "tool_use") return readPiece(blockIndex, block);
    const { id, type, function: fn } = readToolCall(block);
    const index = this.#callCount++;
    this.#openCalls.set(blockIndex, { index, hasArguments: false, input: fn.arguments });
    return [toChunk({ tool_calls: [{ index, id, type, function: { name: fn.name, arguments: "" } }] })];
  }

  #readBlockDelta(blockIndex: unknown, delta: Fields): ChunkChoice[] {
    if (delta["type"] !== "input_json_delta") return readPiece(blockIndex, delta);
    const call = this.#openCalls.get(blockIndex);
    const json = delta["partial_json"];
    if (!call || typeof json !== "string" || json === "") return [];
    call.hasArguments = true;
    return [toChunk({ tool_calls: [{ index: call.index, function: { arguments: json } }] })];
  }

  /** Sends the start event's input if no delta followed, because clients expect a JSON object. */
  #readBlockStop(blockIndex: unknown): ChunkChoice[] {
    const call = this.#openCalls.get(blockIndex);
    this.#openCalls.delete(blockIndex);
    if (!call || call.hasArguments) return [];
    return [toChunk({ tool_calls: [{ index: call.index, function: { arguments: call.input } }] })];
  }

  #readFinish({ stop_reason: reason, stop_details: details }: Fields): ChunkChoice[] {
    if (typeof reason !== "string" || this.state !== "unfinished") return [];
    this.state = "finished";
    const refusal = readRefusal(details);
    const delta = refusal === null ? {} : { refusal };
    return [{ index: 0, delta, finish_reason: readFinishReason(reason) }];
  }
}

type Fields = Record<string, unknown>;

type OpenCall = {
  /** The position of the call among all tool calls, from 0. */
  index: number;
  hasArguments: boolean;
  /** The complete arguments, if no delta follows. */
  input: string;
};

function readPiece(blockIndex: unknown, piece: Fields): ChunkChoice[] {
  const { type, text, thinking } = piece;
  if (type === "text" || type === "text_delta") return isText(text) ? [toChunk({ content: text })] : [];
  if (!thoughtTypes.has(type)) return [];
  const detail = readReasoningDetail(piece, typeof blockIndex === "number" ? blockIndex : 0);
  if (detail === null) return [];
  const reasoning = isText(thinking) ? { reasoning_content: thinking } : {};
  return [toChunk({ ...reasoning, reasoning_details: [detail] })];
}

const thoughtTypes = new Set<unknown>(["thinking", "redacted_thinking", "thinking_delta", "signature_delta"]);

function toChunk(delta: ChunkDelta): ChunkChoice {
  return { index: 0, delta, finish_reason: null };
}

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

/** Throws for a malformed response. https://platform.claude.com/docs/en/api/messages/create */
export function readMessage(answer: unknown): ChatAnswer {
  if (!isObject(answer)) throw new Error("The response is not a message.");
  const { content, stop_reason: stopReason, stop_details: stopDetails, usage } = answer;
  if (!Array.isArray(content)) throw new Error("The message has no content.");
  if (typeof stopReason !== "string") throw new Error("The message has no stop reason.");
  return {
    choices: [
      {
        index: 0,
        message: readContent(content, readRefusal(stopDetails)),
        logprobs: null,
        finish_reason: readFinishReason(stopReason),
      },
    ],
    ...readUsage(usage),
  };
}

function readContent(blocks: unknown[], refusal: string | null): AssistantMessage {
  let text = "";
  let reasoning = "";
  const details = [];
  const calls = [];
  for (const [index, block] of blocks.entries()) {
    if (!isObject(block)) continue;
    if (block["type"] === "text") text += textOf(block["text"]);
    if (block["type"] === "tool_use") calls.push(readToolCall(block));
    if (block["type"] === "thinking" || block["type"] === "redacted_thinking") {
      reasoning += textOf(block["thinking"]);
      details.push(readReasoningDetail(block, index) ?? []);
    }
  }
  const hasOtherContent = calls.length > 0 || refusal !== null;
  const reasoningDetails = details.flat();
  return {
    role: "assistant",
    content: text === "" && hasOtherContent ? null : text,
    refusal,
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(reasoningDetails.length > 0 && { reasoning_details: reasoningDetails }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function readToolCall({ id, name, input }: Record<string, unknown>): ToolCall {
  if (typeof id !== "string" || typeof name !== "string") throw new Error("The tool call is malformed.");
  return {
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(isObject(input) ? input : {}) },
  };
}

/** https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons */
function readFinishReason(stopReason: string): FinishReason {
  // A complete response may have an unknown reason, because Anthropic adds reasons within an API version.
  return finishReasons.get(stopReason) ?? "stop";
}

const finishReasons = new Map<string, FinishReason>([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "tool_calls"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  // A paused turn continues only if the client returns the response.
  ["pause_turn", "length"],
  ["refusal", "content_filter"],
]);

function readRefusal(stopDetails: unknown): string | null {
  const explanation = isObject(stopDetails) ? stopDetails["explanation"] : null;
  return isText(explanation) ? explanation : null;
}

/** Merges the usage objects of one response, because a stream reports usage in several events. */
function readUsage(...reports: unknown[]): Pick<ChatAnswer, "usage" | "usageDetails"> {
  const usage = readMessagesUsage(...reports);
  if (usage === null) return { usage: null, usageDetails: undefined };
  const { input, output, cached, cacheWrite, reasoning, details } = usage;
  const prompt = input === null ? null : input + (cached ?? 0) + (cacheWrite ?? 0);
  return {
    usage: {
      ...(prompt !== null && { prompt_tokens: prompt }),
      ...(output !== null && { completion_tokens: output }),
      ...(prompt !== null && output !== null && { total_tokens: prompt + output }),
      prompt_tokens_details: {
        ...(cached !== null && { cached_tokens: cached }),
        ...(cacheWrite !== null && { cache_write_tokens: cacheWrite }),
      },
      ...(reasoning !== null && { completion_tokens_details: { reasoning_tokens: reasoning } }),
    },
    usageDetails: details,
  };
}
