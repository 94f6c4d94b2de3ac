import type { EventLog, ItemPosition, ItemStatus } from "./event-log.ts";
import { formatCall, formatFlatCall, idPrefixOf, type ItemCall } from "./format-items.ts";
import { FreeformInput } from "./freeform-input.ts";
import type { NamedTool } from "./tool-table.ts";

/** Assigns the next position to an item. */
type AddItem = (idPrefix: string) => ItemPosition;

type CallItemOptions = {
  events: EventLog;
  addItem: AddItem;
  tool: NamedTool | null;
  name: string;
  callId: string;
};

/**
 * A call in a stream. It stays open until the answer ends, because upstreams may interleave calls. Calls of OpenAI's
 * built-in tools have no partial form, so they are sent when complete.
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

  /** Returns the item and its position. */
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
