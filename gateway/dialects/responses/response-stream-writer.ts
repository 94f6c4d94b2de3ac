import { GatewayError } from "../../errors.ts";
import type { ChatUsage, ChunkChoice, FinishReason, ReasoningDetail } from "../../wire/chat-completion.ts";
import {
  type AnswerEnvelope,
  type DialectRequest,
  idSuffix,
  type ShownError,
  type StreamWriter,
} from "../dialect.ts";
import {
  echoRequest,
  formatLogprobs,
  HiddenReasoning,
  includes,
  formatResponse,
  incompleteReasonOf,
} from "./format-answer.ts";
import {
  formatImage,
  type PartKind,
  type ItemStatus,
  type ItemPosition,
  formatMessage,
  formatPart,
  formatReasoning,
  formatCall,
  formatFlatCall,
  idPrefixOf,
  type ItemCall,
  FreeformInput,
} from "./format-items.ts";
import { readChoiceContent, type ChoiceCall } from "../read-choice-content.ts";
import { ReasoningCollector } from "./sealed-content.ts";
import { ToolTable } from "./tools.ts";

/** Holds the whole answer, because the last events repeat it. `write` throws `upstream_error` for a longer answer. */
export class ResponseStreamWriter implements StreamWriter {
  readonly #envelope: AnswerEnvelope;
  readonly #answerCharactersMax: number;
  readonly #table: ToolTable;
  readonly #echo: object;
  /** Null if the details are neither sent to the client nor kept. */
  readonly #details: ReasoningCollector | null;
  /** Null if the client receives the details. */
  readonly #hidden: HiddenReasoning | null;
  readonly #wantsLogprobs: boolean;
  readonly #events = new EventLog();
  /** The finished items, by position. */
  readonly #output: object[] = [];
  #itemCount = 0;
  #hasBegun = false;
  #characters = 0;
  #open: ReasoningItem | MessageItem | null = null;
  #openIndex = 0;
  /** The latest call with each upstream index. */
  readonly #calls = new Map<number, CallItem>();
  readonly #callsInOrder: CallItem[] = [];
  #finishReason: FinishReason | null = null;

  constructor(
    envelope: AnswerEnvelope,
    { body }: Pick<DialectRequest, "body">,
    answerCharactersMax = 2 ** 22,
  ) {
    this.#envelope = envelope;
    this.#answerCharactersMax = answerCharactersMax;
    this.#table = new ToolTable(body);
    this.#echo = echoRequest(body, this.#table, envelope);
    const isShown = includes(body, "reasoning.encrypted_content");
    this.#hidden = isShown ? null : new HiddenReasoning();
    this.#details = isShown || envelope.keep !== null ? new ReasoningCollector() : null;
    this.#wantsLogprobs = includes(body, "message.output_text.logprobs");
  }

  /** The Responses API returns one answer, so further choices are dropped. */
  write({ index, delta, logprobs, finish_reason: finishReason }: ChunkChoice): string {
    if (index > 0) return "";
    this.#begin();
    const { thoughts, details, text, refusal, images, calls } = readChoiceContent(delta);
    if (details.length > 0) this.#collect(details);
    if (thoughts !== "") this.#think(thoughts);
    if (text !== "") this.#addDelta("output_text", text, this.#wantsLogprobs ? formatLogprobs(logprobs) : []);
    if (refusal !== "") this.#addDelta("refusal", refusal, []);
    for (const image of images) this.#addImage(image);
    for (const call of calls) this.#call(call);
    this.#finishReason = finishReason ?? this.#finishReason;
    return this.#events.drain();
  }

  finish(usage: Partial<ChatUsage> | null): string {
    this.#begin();
    const incompleteReason = incompleteReasonOf(this.#finishReason);
    const status = incompleteReason === null ? "completed" : "incomplete";
    const lastCall = this.#callsInOrder.at(-1);
    this.#endOpen(lastCall ? "completed" : status);
    // The reasoning ends before the calls, because Codex returns items in the order of their
    // `response.output_item.done` events.
    this.#endThoughtsOfCalls();
    for (const call of this.#callsInOrder) {
      const { item, index } = call.end(call === lastCall ? status : "completed");
      this.#output[index] = item;
    }
    const state = { status, output: this.#output, usage, incompleteReason } as const;
    const response = formatResponse(this.#envelope, this.#echo, state);
    const hidden = this.#hidden ?? new HiddenReasoning();
    this.#events.emit(`response.${status}`, { response: hidden.keep(response, this.#envelope) });
    return this.#events.drain();
  }

  /**
   * Ends a failed stream like OpenAI's API: OpenAI's SDKs read the `error` event, and Codex reads
   * `response.failed`.
   * https://github.com/openai/openai-node/blob/master/src/core/streaming.ts,
   * https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/sse/responses.rs
   */
  fail({ message, type, param, code }: ShownError): string {
    // OpenAI documents the members at the top level. Its server and SDKs use `error`.
    this.#events.emit("error", { code, message, param, error: { type, code, message, param } });
    const known = code !== null && codesWithMeaning.has(code) ? code : "server_error";
    const state = { status: "failed", output: [], usage: null, error: { code: known, message } } as const;
    const response = formatResponse(this.#envelope, this.#echo, state);
    this.#events.emit("response.failed", { response: { ...response, store: false } });
    return this.#events.drain();
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const state = { status: "in_progress", output: [], usage: null } as const;
    const response = formatResponse(this.#envelope, this.#echo, state);
    this.#events.emit("response.created", { response });
    this.#events.emit("response.in_progress", { response });
  }

  #collect(details: readonly ReasoningDetail[]): void {
    if (this.#details === null) return;
    this.#count(JSON.stringify(details).length);
    this.#details.add(details);
  }

  #think(delta: string): void {
    this.#count(delta.length);
    if (!(this.#open instanceof ReasoningItem)) {
      this.#endOpen("completed");
      this.#open = new ReasoningItem(this.#events, this.#addOpenItem("rs"));
    }
    this.#open.think(delta);
  }

  #addDelta(kind: PartKind, delta: string, logprobs: readonly object[]): void {
    this.#count(logprobs.length === 0 ? delta.length : JSON.stringify(logprobs).length);
    if (!(this.#open instanceof MessageItem)) {
      this.#endOpen("completed");
      this.#open = new MessageItem(this.#events, this.#addOpenItem("msg"));
    }
    this.#open.addDelta(kind, delta, logprobs);
  }

  /** An image arrives in one piece. */
  #addImage(dataUrl: string): void {
    this.#count(Math.ceil(dataUrl.length / imageBytesPerCharacter));
    this.#endOpen("completed");
    const { item_id: id, output_index } = this.#addItem("ig");
    const item = formatImage(id, dataUrl);
    const begun = { ...item, status: "in_progress", result: null };
    this.#events.emit("response.output_item.added", { output_index, item: begun });
    this.#events.emit("response.output_item.done", { output_index, item });
    this.#output[output_index] = item;
  }

  /** Some upstreams give all calls the same index. A new ID with a name starts a new call. */
  #call({ index, position, id, name, arguments: args }: ChoiceCall): void {
    const place = index ?? position;
    let call = this.#calls.get(place);
    if (call === undefined || (id !== "" && id !== call.callId && name !== "")) {
      this.#endOpen("completed");
      call = this.#beginCall(id, name);
      this.#calls.set(place, call);
    }
    this.#count(args.length);
    call.push(args);
  }

  #beginCall(id: string, name: string): CallItem {
    this.#count(itemCharacters);
    const callId = id || `call_${idSuffix(this.#envelope.id)}_${this.#callsInOrder.length}`;
    const tool = this.#table.find(name);
    const call = new CallItem({ events: this.#events, addItem: this.#addItem, tool, name, callId });
    this.#callsInOrder.push(call);
    return call;
  }

  #endOpen(status: ItemStatus): void {
    const open = this.#open;
    if (open === null) return;
    this.#output[this.#openIndex] =
      open instanceof ReasoningItem ? this.#endReasoning(open, this.#openIndex) : open.end(status);
    this.#open = null;
  }

  /** Some upstreams send signatures with the calls, after the reasoning item has ended. */
  #endThoughtsOfCalls(): void {
    if (this.#details?.isEmpty !== false) return;
    const position = this.#addItem("rs");
    const item = new ReasoningItem(this.#events, position);
    this.#output[position.output_index] = this.#endReasoning(item, position.output_index);
  }

  #endReasoning(item: ReasoningItem, index: number): object {
    const details = this.#details?.drain() ?? [];
    if (this.#hidden === null) return item.end(details);
    this.#hidden.add(index, details);
    return item.end([]);
  }

  #addOpenItem(idPrefix: string): ItemPosition {
    this.#count(itemCharacters);
    const position = this.#addItem(idPrefix);
    this.#openIndex = position.output_index;
    return position;
  }

  readonly #addItem = (idPrefix: string): ItemPosition => {
    const index = this.#itemCount++;
    return { item_id: `${idPrefix}_${idSuffix(this.#envelope.id)}_${index}`, output_index: index };
  };

  #count(characters: number): void {
    this.#characters += characters;
    if (this.#characters <= this.#answerCharactersMax) return;
    throw new GatewayError(
      "upstream_error",
      `The provider's response is longer than ${this.#answerCharactersMax} characters. Lower max_output_tokens.`,
      { reason: "answer_too_long" },
    );
  }
}

/** The assumed size of an item without its content. */
const itemCharacters = 256;

/** An image counts less than text, because it is copied only twice. */
const imageBytesPerCharacter = 8;

/** The error codes that clients act on. */
const codesWithMeaning = new Set([
  "rate_limit_exceeded",
  "invalid_prompt",
  "context_length_exceeded",
  "insufficient_quota",
  "usage_not_included",
  "cyber_policy",
  "server_is_overloaded",
  "slow_down",
]);

class MessageItem {
  readonly #events: EventLog;
  readonly #position: ItemPosition;
  readonly #content: object[] = [];
  #part: OpenPart | null = null;

  constructor(events: EventLog, position: ItemPosition) {
    this.#events = events;
    this.#position = position;
    const item = formatMessage(position.item_id, "in_progress", []);
    events.emit("response.output_item.added", { output_index: position.output_index, item });
  }

  addDelta(kind: PartKind, delta: string, logprobs: readonly object[]): void {
    if (this.#part?.kind !== kind) this.#endPart();
    this.#part ??= this.#beginPart(kind);
    const part = this.#part;
    part.text += delta;
    for (const each of logprobs) part.logprobs.push(each);
    this.#emit(`response.${kind}.delta`, { delta, ...(kind === "output_text" && { logprobs }) });
  }

  end(status: ItemStatus): object {
    this.#endPart();
    const { item_id: id, output_index } = this.#position;
    const item = formatMessage(id, status, this.#content);
    this.#events.emit("response.output_item.done", { output_index, item });
    return item;
  }

  #beginPart(kind: PartKind): OpenPart {
    this.#emit("response.content_part.added", { part: formatPart(kind, "", []) });
    return { kind, text: "", logprobs: [] };
  }

  #endPart(): void {
    if (this.#part === null) return;
    const { kind, text, logprobs } = this.#part;
    const part = formatPart(kind, text, logprobs);
    this.#emit(`response.${kind}.done`, kind === "refusal" ? { refusal: text } : { text, logprobs });
    this.#emit("response.content_part.done", { part });
    this.#content.push(part);
    this.#part = null;
  }

  #emit(type: string, members: object): void {
    this.#events.emit(type, { ...this.#position, content_index: this.#content.length, ...members });
  }
}

type OpenPart = { kind: PartKind; text: string; logprobs: object[] };

/** Sends reasoning as a summary with one part, because clients show and return summaries. */
class ReasoningItem {
  readonly #events: EventLog;
  readonly #position: ItemPosition;
  #thoughts = "";

  constructor(events: EventLog, position: ItemPosition) {
    this.#events = events;
    this.#position = position;
    const item = formatReasoning(position.item_id, "", []);
    events.emit("response.output_item.added", { output_index: position.output_index, item });
  }

  think(delta: string): void {
    if (this.#thoughts === "") {
      this.#emit("response.reasoning_summary_part.added", { part: { type: "summary_text", text: "" } });
    }
    this.#thoughts += delta;
    this.#emit("response.reasoning_summary_text.delta", { delta });
  }

  /** @param details the details that the client must return */
  end(details: readonly ReasoningDetail[]): object {
    const text = this.#thoughts;
    if (text !== "") {
      this.#emit("response.reasoning_summary_text.done", { text });
      this.#emit("response.reasoning_summary_part.done", { part: { type: "summary_text", text } });
    }
    const { item_id: id, output_index } = this.#position;
    const item = formatReasoning(id, text, details);
    this.#events.emit("response.output_item.done", { output_index, item });
    return item;
  }

  #emit(type: string, members: object): void {
    this.#events.emit(type, { ...this.#position, summary_index: 0, ...members });
  }
}

type CallItemOptions = Omit<ItemCall, "id"> & {
  events: EventLog;
  addItem: (idPrefix: string) => ItemPosition;
};

/**
 * A call in a stream. It stays open until the answer ends, because upstreams may interleave calls. Calls of
 * OpenAI's built-in tools cannot be sent in parts, so they are sent when complete.
 */
class CallItem {
  readonly callId: string;
  readonly #options: CallItemOptions;
  readonly #input: FreeformInput | null;
  #position: ItemPosition | null = null;
  #arguments = "";

  constructor(options: CallItemOptions) {
    const { tool, callId } = options;
    this.callId = callId;
    this.#options = options;
    this.#input = tool?.kind === "custom" ? new FreeformInput() : null;
    if (tool !== null && tool.kind !== "function" && tool.kind !== "custom") return;
    this.#position = this.#begin((call) => formatFlatCall(call, "in_progress", ""));
  }

  push(piece: string): void {
    if (this.#input) return this.#emitDelta("response.custom_tool_call_input.delta", this.#input.push(piece));
    this.#arguments += piece;
    this.#emitDelta("response.function_call_arguments.delta", piece);
  }

  end(status: ItemStatus): { item: object; index: number } {
    const { events } = this.#options;
    const args = this.#arguments;
    const position = this.#position ?? this.#begin((call) => formatCall(call, status, args));
    const call = this.#call(position);
    let item: object;
    if (this.#input) {
      const { text, remaining } = this.#input.finish();
      this.#emitDelta("response.custom_tool_call_input.delta", remaining);
      events.emit("response.custom_tool_call_input.done", { ...position, input: text });
      item = formatFlatCall(call, status, text);
    } else {
      item = formatCall(call, status, args);
      const name = call.tool?.name ?? call.name;
      if (this.#position)
        events.emit("response.function_call_arguments.done", { ...position, name, arguments: args });
    }
    events.emit("response.output_item.done", { output_index: position.output_index, item });
    return { item, index: position.output_index };
  }

  #begin(format: (call: ItemCall) => object): ItemPosition {
    const { events, addItem, tool } = this.#options;
    const position = addItem(idPrefixOf(tool));
    const item = format(this.#call(position));
    events.emit("response.output_item.added", { output_index: position.output_index, item });
    return position;
  }

  #emitDelta(type: string, delta: string): void {
    if (delta !== "" && this.#position) this.#options.events.emit(type, { ...this.#position, delta });
  }

  #call({ item_id: id }: ItemPosition): ItemCall {
    const { callId, tool, name } = this.#options;
    return { id, callId, tool, name };
  }
}

/** Formats the numbered events of one stream. https://platform.openai.com/docs/api-reference/responses-streaming */
class EventLog {
  #sequenceNumber = 0;
  #text = "";

  emit(type: string, members: object): void {
    const data = JSON.stringify({ type, sequence_number: this.#sequenceNumber++, ...members });
    this.#text += `event: ${type}\ndata: ${data}\n\n`;
  }

  /** Returns the events that `drain` has not returned yet. */
  drain(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}
