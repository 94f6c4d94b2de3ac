/** Formats the numbered events of one stream. https://platform.openai.com/docs/api-reference/responses-streaming */
export class EventLog {
  #sequenceNumber = 0;
  #text = "";

  emit(type: string, members: object): void {
    const data = JSON.stringify({ type, sequence_number: this.#sequenceNumber++, ...members });
    this.#text += `event: ${type}\ndata: ${data}\n\n`;
  }

  /** Returns the events since the last call. */
  drain(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}

/** An item's position in the answer. All its events repeat it. */
export type ItemPosition = { item_id: string; output_index: number };

export type ItemStatus = "completed" | "incomplete";
