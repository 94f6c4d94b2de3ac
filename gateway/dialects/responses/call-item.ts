import type { EventLog, ItemPlace, ItemStatus } from "./event-log.ts";
import { formatCall, formatFlatCall, idPrefixOf, type ItemCall } from "./format-items.ts";
import { FreeformInput } from "./freeform-input.ts";
import type { NamedTool } from "./tool-table.ts";

/** Assigns the next position to an item. */
type PlaceItem = (idPrefix: string) => ItemPlace;

type CallItemOptions = {
  events: EventLog;
  placeItem: PlaceItem;
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
  #place: ItemPlace | null = null;
  #arguments = "";

  constructor(options: CallItemOptions) {
    const { tool, callId } = options;
    this.callId = callId;
    this.#options = options;
    this.#input = tool?.kind === "custom" ? new FreeformInput() : null;
    if (tool !== null && tool.kind !== "function" && tool.kind !== "custom") return;
    this.#place = this.#begin((call) => formatFlatCall(call, "in_progress", ""));
  }

  push(piece: string): void {
    if (this.#input) return this.#say("response.custom_tool_call_input.delta", this.#input.push(piece));
    this.#arguments += piece;
    this.#say("response.function_call_arguments.delta", piece);
  }

  /** Returns the item and its position. */
  end(status: ItemStatus): { item: object; index: number } {
    const { events } = this.#options;
    const args = this.#arguments;
    const place = this.#place ?? this.#begin((call) => formatCall(call, status, args));
    const call = this.#call(place);
    let item: object;
    if (this.#input) {
      const { text, unsaid } = this.#input.finish();
      this.#say("response.custom_tool_call_input.delta", unsaid);
      events.emit("response.custom_tool_call_input.done", { ...place, input: text });
      item = formatFlatCall(call, status, text);
    } else {
      item = formatCall(call, status, args);
      const name = call.tool?.name ?? call.name;
      if (this.#place)
        events.emit("response.function_call_arguments.done", { ...place, name, arguments: args });
    }
    events.emit("response.output_item.done", { output_index: place.output_index, item });
    return { item, index: place.output_index };
  }

  #begin(format: (call: ItemCall) => object): ItemPlace {
    const { events, placeItem, tool } = this.#options;
    const place = placeItem(idPrefixOf(tool));
    const item = format(this.#call(place));
    events.emit("response.output_item.added", { output_index: place.output_index, item });
    return place;
  }

  #say(type: string, delta: string): void {
    if (delta !== "" && this.#place) this.#options.events.emit(type, { ...this.#place, delta });
  }

  #call({ item_id: id }: ItemPlace): ItemCall {
    const { callId, tool, name } = this.#options;
    return { id, callId, tool, name };
  }
}
