import {
  formatMessage,
  formatPart,
  type PartKind,
  formatReasoning,
  formatCall,
  formatFlatCall,
  idPrefixOf,
  type ItemCall,
  type ItemStatus,
  type ItemPosition,
} from "./format-items.ts";
import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import { FreeformInput } from "./freeform-input.ts";
import type { NamedTool } from "./tool-table.ts";

export class MessageItem {
  readonly #events: EventLog;
  readonly #position: ItemPosition;
  readonly #content: object[] = [];
  #part: { kind: PartKind; text: string; logprobs: object[] } | null = null;

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

  #beginPart(kind: PartKind): { kind: PartKind; text: string; logprobs: object[] } {
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

/** Sends reasoning as a summary with one part, because clients show and return summaries. */
export class ReasoningItem {
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

type AddItem = (idPrefix: string) => ItemPosition;

type CallItemOptions = {
  events: EventLog;
  addItem: AddItem;
  tool: NamedTool | null;
  name: string;
  callId: string;
};

/**
 * A call in a stream. It stays open until the answer ends, because upstreams may interleave calls. Calls of
 * OpenAI's built-in tools cannot be sent in parts, so they are sent when complete.
 */
export class CallItem {
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
export class EventLog {
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
