import type { NativeDialect, NativeEventReader } from "../dialects/dialect.ts";
import { GatewayError } from "../errors.ts";
import { deltaNames, SaidMeter } from "../usage/counting/said-meter.ts";
import { EventSplitter } from "../wire/event-splitter.ts";
import { errorWithoutSecrets } from "./read-upstream-error.ts";
import {
  badAnswer,
  cutOff,
  noBytes,
  type StreamPiece,
  type StreamReading,
  tooLong,
} from "./stream-reading.ts";

type NativeEventStreamOptions = {
  native: NativeDialect;
  slug: string;
  eventBytesMax: number;
  /** Our credential, which an upstream's error may quote. */
  secret: string | null;
};

/**
 * The stream of an upstream that speaks the client's dialect itself. Only the events whose names say that they matter are
 * looked at; all others pass as they are.
 */
export class NativeEventStream implements StreamReading {
  readonly contentType = "text/event-stream";
  readonly said = new SaidMeter(deltaNames());
  readonly #options: NativeEventStreamOptions;
  readonly #splitter: EventSplitter;
  readonly #reader: NativeEventReader;

  constructor(options: NativeEventStreamOptions) {
    this.#options = options;
    this.#splitter = new EventSplitter(options.eventBytesMax);
    this.#reader = options.native.createReader(options.slug);
  }

  push(bytes: Buffer): StreamPiece {
    const events = this.#splitter.push(bytes);
    const piece = events ? this.#relay(events) : { bytes: noBytes, ending: null };
    const { eventBytesMax } = this.#options;
    const isTooLong = piece.ending === null && this.#splitter.isTooLong;
    return {
      bytes: piece.bytes,
      usage: this.#reader.usage,
      ending: isTooLong ? tooLong("one event longer than", eventBytesMax) : piece.ending,
    };
  }

  end(): StreamPiece {
    return { bytes: noBytes, usage: this.#reader.usage, ending: cutOff() };
  }

  #relay(events: Buffer): Pick<StreamPiece, "bytes" | "ending"> {
    // One character a byte: positions in the text are positions in the bytes.
    const text = events.toString("latin1");
    const parts: Buffer[] = [];
    let copied = 0;
    for (const { name, start, dataStart, dataEnd, end } of findEvents(text)) {
      // Other events repeat as a whole what these have said in pieces.
      if (name.endsWith("delta")) this.said.read(text, dataStart, dataEnd);
      if (!this.#options.native.eventNames.has(name)) continue;
      const { data, ending } = this.#read(name, events.toString("utf8", dataStart, dataEnd));
      if (data !== null) {
        parts.push(events.subarray(copied, dataStart), Buffer.from(data));
        copied = dataEnd;
      }
      if (ending === null) continue;
      // An error is told in the gateway's own words.
      parts.push(events.subarray(copied, ending === "done" ? end : start));
      return { bytes: Buffer.concat(parts), ending };
    }
    if (parts.length === 0) return { bytes: events, ending: null };
    return { bytes: Buffer.concat([...parts, events.subarray(copied)]), ending: null };
  }

  #read(name: string, data: string): ReturnType<NativeEventReader["read"]> {
    try {
      const read = this.#reader.read({ name, data });
      if (!(read.ending instanceof GatewayError)) return read;
      return { data: null, ending: errorWithoutSecrets(read.ending, this.#options.secret) };
    } catch {
      return { data: null, ending: badAnswer("not in its provider's form") };
    }
  }
}

type FoundEvent = { name: string; start: number; dataStart: number; dataEnd: number; end: number };

/** The events in a text that ends where an event ends, with a name and one line of data, as both vendors write them. */
function* findEvents(text: string): Generator<FoundEvent> {
  const pattern = /^event: ?([^\r\n]*)\r?\ndata: ?([^\r\n]*)(\r?\n)+/gm;
  for (const match of text.matchAll(pattern)) {
    const [whole, name = "", data = ""] = match;
    const dataStart = match.index + whole.indexOf(data, whole.indexOf("\ndata:") + "\ndata:".length);
    const end = match.index + whole.length;
    yield { name, start: match.index, dataStart, dataEnd: dataStart + data.length, end };
  }
}
