import type { DialectRequest, NativeDialect, NativePiece, NativeReader } from "../dialects/dialect.ts";
import { GatewayError } from "../errors.ts";
import { OutputMeter } from "../usage/counting/output-meter.ts";
import { EventSplitter } from "../wire/event-splitter.ts";
import { errorWithoutSecrets } from "./read-upstream-error.ts";
import { cutOff, noBytes, type StreamReading, tooLong } from "./stream-reading.ts";

type NativeStreamOptions = {
  native: NativeDialect;
  request: DialectRequest;
  slug: string;
  eventBytesMax: number;
  /** Our credential, which an upstream's error may quote. */
  secret: string | null;
};

/** The stream of an upstream that speaks the client's dialect: its own bytes, but for the model and the usage. */
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
    const events = this.#splitter.push(bytes);
    const piece = events ? this.#reader.read(events) : noPiece;
    const { secret, eventBytesMax } = this.#options;
    if (piece.ending instanceof GatewayError) {
      return { ...piece, ending: errorWithoutSecrets(piece.ending, secret) };
    }
    if (piece.ending !== null || !this.#splitter.isTooLong) return piece;
    return { ...piece, ending: tooLong("one event longer than", eventBytesMax) };
  }

  /** The reader reports the end of a complete stream before the connection ends. */
  end(): NativePiece {
    return { ...noPiece, ending: cutOff() };
  }
}

const noPiece: NativePiece = { bytes: noBytes, usage: null, ending: null };
