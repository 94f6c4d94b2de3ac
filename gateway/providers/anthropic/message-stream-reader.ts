import type { ChunkChoice, ChunkDelta } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import type { UpstreamEvent } from "../../wire/server-sent-events.ts";
import type { ChatStreamReader } from "../provider.ts";
import { reportedError } from "../../wire/reported-error.ts";
import { parseEvent } from "../../wire/parse-upstream.ts";
import { readFinishReason, readRefusal, readToolCall, type ReadUsage, readUsage } from "./read-message.ts";
import { readReasoningDetail } from "./reasoning-details.ts";

/** https://platform.claude.com/docs/en/build-with-claude/streaming */
export class MessageStreamReader implements ChatStreamReader {
  #state: ChatStreamReader["state"] = "unfinished";
  #usageAtStart: unknown = null;
  #usageAtEnd: unknown = null;
  #reported: ReadUsage = { usage: null, usageDetails: undefined };
  /** The open tool calls, by the index of their block. */
  readonly #openCalls = new Map<unknown, OpenCall>();
  #callCount = 0;

  get state(): ChatStreamReader["state"] {
    return this.#state;
  }

  get usage(): ReadUsage["usage"] {
    return this.#reported.usage;
  }

  get usageDetails(): ReadUsage["usageDetails"] {
    return this.#reported.usageDetails;
  }

  read({ name, data }: UpstreamEvent): ChunkChoice[] {
    if (name === "ping") return [];
    const event = parseEvent(data);
    switch (event["type"]) {
      case "message_start":
        this.#usageAtStart = fieldsOf(event["message"])["usage"];
        this.#reported = readUsage(this.#usageAtStart, this.#usageAtEnd);
        return [];
      case "content_block_start":
        return this.#readBlockStart(event["index"], fieldsOf(event["content_block"]));
      case "content_block_delta":
        return this.#readBlockDelta(event["index"], fieldsOf(event["delta"]));
      case "content_block_stop":
        return this.#readBlockStop(event["index"]);
      case "message_delta":
        this.#usageAtEnd = event["usage"] ?? this.#usageAtEnd;
        this.#reported = readUsage(this.#usageAtStart, this.#usageAtEnd);
        return this.#readFinish(fieldsOf(event["delta"]));
      case "message_stop":
        if (this.#state === "unfinished") throw new Error("The message has no stop reason.");
        this.#state = "ended";
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
    if (typeof reason !== "string" || this.#state !== "unfinished") return [];
    this.#state = "finished";
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

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function toChunk(delta: ChunkDelta): ChunkChoice {
  return { index: 0, delta, finish_reason: null };
}

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}
