import { EventSplitter } from "./bytes.ts";

export class ServerSentEventDecoder implements EventDecoder {
  readonly #splitter: EventSplitter;

  constructor(eventBytesMax: number) {
    this.#splitter = new EventSplitter(eventBytesMax);
  }

  get isTooLong(): boolean {
    return this.#splitter.isTooLong;
  }

  push(bytes: Buffer): UpstreamEvent[] {
    const events = this.#splitter.push(bytes);
    return events === null ? [] : parseEvents(events.toString("utf8"));
  }

  flush(): UpstreamEvent[] {
    const event = this.#splitter.flush();
    return event === null ? [] : parseEvents(event.toString("utf8"));
  }
}

/**
 * Parses complete events. Drops events without data, which are mostly comments.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
function parseEvents(text: string): UpstreamEvent[] {
  const events: UpstreamEvent[] = [];
  let name = "";
  let data: string | null = null;
  for (let start = 0, next = 0; start < text.length; start = next) {
    const newline = text.indexOf("\n", start);
    next = newline === -1 ? text.length : newline + 1;
    const end = newline === -1 ? next : text[newline - 1] === "\r" ? newline - 1 : newline;
    if (end <= start) {
      if (data !== null) events.push({ name, data });
      name = "";
      data = null;
    } else if (text.startsWith("data:", start)) {
      const value = fieldValue(text, start + "data:".length, end);
      data = data === null ? value : `${data}\n${value}`;
    } else if (text.startsWith("event:", start)) {
      name = fieldValue(text, start + "event:".length, end);
    }
  }
  return events;
}

function fieldValue(text: string, start: number, end: number): string {
  return text.slice(text[start] === " " ? start + 1 : start, end);
}

/** One event of an upstream's stream, in any framing. */
export type UpstreamEvent = {
  /** Empty for an unnamed event. */
  name: string;
  data: string;
};

export type EventDecoder = {
  /** Returns the events that these bytes complete. May throw any error for malformed bytes. */
  push(bytes: Buffer): UpstreamEvent[];
  /** Returns the events that end with the body. Framings with a length for each event need none. */
  flush?(): UpstreamEvent[];
  /** Whether the incomplete event exceeds its limit. The caller must then stop. */
  readonly isTooLong: boolean;
};
