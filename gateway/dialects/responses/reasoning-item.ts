import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import type { EventLog, ItemPosition } from "./event-log.ts";
import { formatReasoning } from "./format-items.ts";

/** Reasoning in a stream, as the one part of a summary: every client shows and returns summaries. */
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

  /**
   * Returns the item.
   * @param details the details that the client must return
   */
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
