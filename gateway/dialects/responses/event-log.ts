/** Formats the events of one stream, which are numbered. https://platform.openai.com/docs/api-reference/responses-streaming */
export class EventLog {
  #sequenceNumber = 0;
  #text = "";

  emit(type: string, members: object): void {
    const data = JSON.stringify({ type, sequence_number: this.#sequenceNumber++, ...members });
    this.#text += `event: ${type}\ndata: ${data}\n\n`;
  }

  /** What has been emitted since the last time. */
  take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}

/** Where an item stands in the answer, as all its events say. */
export type ItemPlace = { item_id: string; output_index: number };

export type ItemStatus = "completed" | "incomplete";
