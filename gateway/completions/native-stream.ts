import { EventSplitter } from "../wire/event-splitter.ts";
import { chatNames, SaidMeter } from "../usage/counting/said-meter.ts";
import { ChunkRewriter } from "./chunk-rewriter.ts";
import { readUpstreamErrorEvent } from "./read-upstream-error.ts";
import {
  badAnswer,
  cutOff,
  noBytes,
  type StreamPiece,
  type StreamReading,
  tooLong,
} from "./stream-reading.ts";

type NativeStreamOptions = {
  slug: string;
  includeUsage: boolean;
  eventBytesMax: number;
  /** Our credential, which an upstream's error may quote. */
  secret: string | null;
};

/** The stream of an upstream that speaks chat completions itself: it passes as it is, but for the model and the usage. */
export class NativeStream implements StreamReading {
  readonly contentType = "text/event-stream";
  readonly said = new SaidMeter(chatNames());
  readonly #options: NativeStreamOptions;
  readonly #splitter: EventSplitter;
  readonly #rewriter: ChunkRewriter;

  constructor(options: NativeStreamOptions) {
    this.#options = options;
    this.#splitter = new EventSplitter(options.eventBytesMax);
    this.#rewriter = new ChunkRewriter({ ...options, said: this.said });
  }

  push(bytes: Buffer): StreamPiece {
    const events = this.#splitter.push(bytes);
    const piece = events ? this.#rewrite(events) : { bytes: noBytes, usage: null, ending: null };
    if (piece.ending !== null || !this.#splitter.isTooLong) return piece;
    return { ...piece, ending: tooLong("one event longer than", this.#options.eventBytesMax) };
  }

  /** Only `[DONE]` ends such a stream as it should. */
  end(): StreamPiece {
    return { bytes: noBytes, usage: null, ending: cutOff() };
  }

  #rewrite(events: Buffer): StreamPiece {
    const { bytes, usage, ending } = this.#rewriter.rewrite(events);
    if (ending === null) return { bytes, usage, ending };
    if (ending.kind === "done") return { bytes: this.#withLastEvents(bytes), usage, ending: "done" };
    const error =
      ending.kind === "error"
        ? readUpstreamErrorEvent(ending.payload, this.#options.secret)
        : badAnswer("not made of chat completion chunks");
    return { bytes, usage, ending: error };
  }

  /** Some upstreams put the usage into their last chunk with choices. Who asked for a chunk of its own gets one. */
  #withLastEvents(bytes: Buffer): Buffer {
    const chunk = this.#options.includeUsage ? this.#rewriter.missingUsageChunk() : null;
    const last = chunk === null ? [doneEvent] : [Buffer.from(`data: ${chunk}\n\n`), doneEvent];
    return Buffer.concat([bytes, ...last]);
  }
}

const doneEvent = Buffer.from("data: [DONE]\n\n");
