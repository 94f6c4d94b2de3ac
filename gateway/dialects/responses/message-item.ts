import { type EventLog, type ItemPosition, type ItemStatus } from "./event-log.ts";
import { formatMessage, formatPart, type PartKind } from "./format-items.ts";

/** A message of a stream, written part by part. */
export class MessageItem {
  readonly #events: EventLog;
  readonly #position: ItemPosition;
  /** The finished parts. */
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

  /** Emits the last events and returns the finished item. */
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
