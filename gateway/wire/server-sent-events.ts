import { createParser } from "eventsource-parser";
import type { EventDecoder, UpstreamEvent } from "./event-decoder.ts";
import { EventSplitter } from "./event-splitter.ts";

/** Decodes server-sent events. Those without data (comments, mostly) are left out. */
export class ServerSentEventDecoder implements EventDecoder {
  readonly #splitter: EventSplitter;
  #events: UpstreamEvent[] = [];
  readonly #parser = createParser({
    onEvent: ({ event, data }) => this.#events.push({ name: event ?? "", data }),
  });

  /** @param eventBytesMax the longest event that is waited for. */
  constructor(eventBytesMax: number) {
    this.#splitter = new EventSplitter(eventBytesMax);
  }

  get isTooLong(): boolean {
    return this.#splitter.isTooLong;
  }

  push(bytes: Buffer): UpstreamEvent[] {
    const complete = this.#splitter.push(bytes);
    if (complete === null) return [];
    this.#parser.feed(complete.toString("utf8"));
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
