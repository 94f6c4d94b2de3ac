import type { TokenUsage } from "../wire/token-usage.ts";
import type { GatewayError } from "../errors.ts";
import { badAnswer } from "../wire/bad-answer.ts";
import { joinDataLines } from "../wire/bytes.ts";
import type { UpstreamEvent } from "../wire/server-sent-events.ts";
import type { NativePiece, NativeReader, OutputMeter } from "./dialect.ts";

/** Reads the events of one stream in a dialect with named events. */
export type EventForm = {
  /** The names of the events to read. All other events pass unchanged. */
  readonly eventNames: ReadonlySet<string>;
  /** May throw any error for a malformed event. */
  read(event: UpstreamEvent): {
    /** The event's new data. Null leaves it unchanged. */
    data: string | null;
    /** `done`, or the upstream's error, whose event the client does not receive. Null if the stream continues. */
    ending: "done" | GatewayError | null;
  };
  /** The token counts so far. */
  readonly usage: TokenUsage | null;
  /** The last event of a complete stream that lacks it. Null for an incomplete stream. */
  lastEvent?(): string | null;
};

/** Relays streams with named events, such as Anthropic's messages and OpenAI's responses. */
export class NamedEventReader implements NativeReader {
  readonly #form: EventForm;
  readonly #meter: OutputMeter;

  constructor(form: EventForm, meter: OutputMeter) {
    this.#form = form;
    this.#meter = meter;
  }

  read(events: Buffer): NativePiece {
    // In Latin-1, each character is one byte, so positions match.
    const text = events.toString("latin1");
    const parts: Buffer[] = [];
    let copied = 0;
    for (const { name, start, dataStart, dataEnd, end } of findEvents(text)) {
      // Only deltas are counted, because later events may repeat the whole text.
      if (name.endsWith("delta")) this.#meter.read(text, dataStart, dataEnd);
      if (!this.#form.eventNames.has(name)) continue;
      const { data, ending } = this.#readEvent(name, events.toString("utf8", dataStart, dataEnd));
      if (ending === malformed && /^\r?\ndata:/.test(text.slice(dataEnd, dataEnd + nextLineLength))) {
        // The event has several lines of data. Joined, none has.
        const rest = this.read(joinDataLines(events.subarray(start)));
        const before = [...parts, events.subarray(copied, start)];
        return { ...rest, bytes: Buffer.concat([...before, Buffer.from(rest.bytes)]) };
      }
      if (data !== null) {
        parts.push(events.subarray(copied, dataStart), Buffer.from(data));
        copied = dataEnd;
      }
      if (ending === null) continue;
      // An error event is removed, because the gateway formats the error itself.
      parts.push(events.subarray(copied, ending === "done" ? end : start));
      return { bytes: Buffer.concat(parts), usage: this.#form.usage, ending };
    }
    const bytes = parts.length === 0 ? events : Buffer.concat([...parts, events.subarray(copied)]);
    return { bytes, usage: this.#form.usage, ending: null };
  }

  end(): NativePiece | null {
    const event = this.#form.lastEvent?.() ?? null;
    return event === null ? null : { bytes: Buffer.from(event), usage: this.#form.usage, ending: "done" };
  }

  #readEvent(name: string, data: string): ReturnType<EventForm["read"]> {
    try {
      return this.#form.read({ name, data });
    } catch {
      return { data: null, ending: malformed };
    }
  }
}

const malformed = badAnswer("malformed");
/** The characters of a line break and the name of the next field. */
const nextLineLength = 7;

/** Matches the names of members with output text in delta events. */
export const deltaNames = () => /"(?:text|thinking|partial_json|delta)"\s*:\s*"/g;

type FoundEvent = { name: string; start: number; dataStart: number; dataEnd: number; end: number };

/** Finds complete events. Each event has a name and one line of data, as Anthropic and OpenAI send them. Further lines are events of their own. */
function* findEvents(text: string): Generator<FoundEvent> {
  const pattern = /^(?:event: ?([^\r\n]*)\r?\n)?data: ?([^\r\n]*)(\r?\n)+/gm;
  for (const match of text.matchAll(pattern)) {
    const [whole, given = "", data = ""] = match;
    // Some servers report an error in an event without a name.
    const name = given === "" && data.startsWith('{"error"') ? "error" : given;
    const dataStart = match.index + whole.indexOf(data, whole.indexOf("\ndata:") + "\ndata:".length);
    const end = match.index + whole.length;
    yield { name, start: match.index, dataStart, dataEnd: dataStart + data.length, end };
  }
}
