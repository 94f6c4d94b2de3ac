import type { DialectRequest, NativeDialect, NativePiece, NativeReader } from "../dialects/dialect.ts";
import { GatewayError } from "../errors.ts";
import { OutputMeter } from "../usage/counting/token-meter.ts";
import { cutOff, tooLong } from "../wire/bad-answer.ts";
import { type BytesOrText, EventSplitter } from "../wire/bytes.ts";
import { errorWithoutSecrets } from "./read-upstream-error.ts";
import type { StreamReading } from "./stream-reading.ts";

type NativeStreamOptions = {
  native: NativeDialect;
  request: DialectRequest;
  slug: string;
  eventBytesMax: number;
  /** The provider's key. Upstream errors may quote it. */
  secret: string | null;
};

/** Relays a stream in the client's dialect, with the slug in place of the upstream's model name. */
export class NativeStream implements StreamReading {
  readonly contentType = "text/event-stream";
  readonly output: OutputMeter;
  readonly #options: NativeStreamOptions;
  readonly #splitter: EventSplitter;
  readonly #reader: NativeReader;

  constructor(options: NativeStreamOptions) {
    const { native, request, slug } = options;
    this.#options = options;
    this.output = new OutputMeter(native.outputNames());
    this.#splitter = new EventSplitter(options.eventBytesMax);
    this.#reader = native.createReader(request, slug, this.output);
  }

  push(bytes: Buffer): NativePiece {
    return this.#relay(this.#splitter.push(bytes));
  }

  #relay(events: Buffer | null): NativePiece {
    const piece = events ? this.#reader.read(events) : noPiece;
    const { secret, eventBytesMax } = this.#options;
    if (piece.ending instanceof GatewayError) {
      return { ...piece, ending: errorWithoutSecrets(piece.ending, secret) };
    }
    if (piece.ending !== null || !this.#splitter.isTooLong) return piece;
    return { ...piece, ending: tooLong("one event", eventBytesMax) };
  }

  /** The reader usually reports the end of a complete stream before the connection ends. */
  end(): NativePiece {
    const last = this.#flush();
    if (last.ending !== null) return last;
    const end = this.#reader.end?.() ?? { ...noPiece, ending: cutOff() };
    return { ...end, bytes: joinLatin1(last.bytes, end.bytes), usage: end.usage ?? last.usage };
  }

  /** Reads a last line without its line breaks. An incomplete event is not malformed, but cut off. */
  #flush(): NativePiece {
    const piece = this.#relay(this.#splitter.flush());
    const isCut = piece.ending instanceof GatewayError && piece.ending.withoutAnswer === null;
    return isCut ? { ...noPiece, ending: cutOff() } : piece;
  }
}

function joinLatin1(first: BytesOrText, second: BytesOrText): BytesOrText {
  if (first.length === 0) return second;
  return `${first.toString("latin1")}${second.toString("latin1")}`;
}

const noPiece: NativePiece = { bytes: Buffer.alloc(0), usage: null, ending: null };
