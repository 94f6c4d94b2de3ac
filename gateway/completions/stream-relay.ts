import { type BytesOrText, concat, EventSplitter } from "../wire/bytes.ts";
import type { UpstreamEvents, UpstreamHeaders } from "../upstream/upstream-call.ts";
import { isMediaType } from "../upstream/upstreams.ts";
import type { TokenUsage } from "../wire/token-usage.ts";
import { GatewayError } from "../errors.ts";
import { ErrorCollector, errorWithoutSecrets } from "./read-upstream-error.ts";
import type { Exchange } from "./exchange.ts";
import type { Answer } from "./reply.ts";
import { compressed, badAnswer, toAnswerError, cutOff, tooLong } from "../wire/bad-answer.ts";
import type { DialectRequest, NativeDialect, NativePiece, NativeReader } from "../dialects/dialect.ts";
import { OutputMeter } from "../usage/counting/token-meter.ts";

type StreamRelayOptions = { pingIntervalMs: number; clientStallTimeoutMs: number };

/**
 * Relays a stream as it arrives, in whole events. The head waits for the first event or ping, so that an
 * early failure gets its own HTTP status. A stream succeeds only if it ends as its format requires.
 */
export class StreamRelay implements UpstreamEvents, Answer {
  usage: TokenUsage | null = null;
  firstTokenAt: number | null = null;
  readonly #exchange: Exchange;
  readonly #reading: StreamReading;
  readonly #options: StreamRelayOptions;
  /** Chunks that the next microtask relays together. */
  #arrived: Buffer[] = [];
  #error: ErrorCollector | null = null;
  #timer: NodeJS.Timeout | undefined;
  #lastWriteAt = 0;
  #isStalled = false;
  /** The bytes since the last turn of the event loop that other requests had. */
  #bytesInTurn = 0;
  /** Whether the rest waits for the next turn. Bytes that arrive meanwhile wait too. */
  #isYielding = false;
  #hasLeft = false;
  #isPartial = false;
  #isEnded = false;
  #turn: NodeJS.Immediate | undefined;
  /** The end of the upstream's body, or its error, that arrived while the relay yielded. */
  #last: (() => void) | null = null;

  constructor(exchange: Exchange, reading: StreamReading, options: StreamRelayOptions) {
    this.#exchange = exchange;
    this.#reading = reading;
    this.#options = options;
  }

  get tokens(): number {
    return this.#reading.output.tokens;
  }

  onHeaders(status: number, headers: UpstreamHeaders): void {
    const isStream = isMediaType(headers["content-type"], this.#reading.contentType);
    if (status !== 200 || (!isStream && isMediaType(headers["content-type"], "application/json"))) {
      this.#error = new ErrorCollector(this.#exchange, status, headers);
    } else if (!isStream) {
      this.#exchange.fail(badAnswer("not an event stream"));
    } else if ((headers["content-encoding"] ?? "identity") !== "identity") {
      this.#exchange.fail(compressed());
    } else {
      const { pingIntervalMs, clientStallTimeoutMs } = this.#options;
      this.#exchange.answered(this);
      this.#exchange.reply.onDrain(() => this.#resume());
      this.#lastWriteAt = performance.now();
      this.#watch(Math.min(pingIntervalMs, clientStallTimeoutMs));
    }
  }

  /** Joins chunks that arrive together, because each relayed chunk has a fixed cost. */
  onData(bytes: Buffer): void {
    if (this.#error) return this.#error.add(bytes);
    // The upstream may send data after the end of its stream.
    if (this.#exchange.isOver) return this.#exchange.call?.abort();
    // The connection reuses its buffer in the next turn.
    if (this.#isYielding) return void this.#arrived.push(Buffer.from(bytes));
    if (this.#arrived.push(bytes) === 1) queueMicrotask(() => this.#relayLater());
  }

  onEnd(): void {
    if (this.#error) return this.#error.finish();
    this.#finishWith(() => this.#relay(() => this.#reading.end()));
  }

  onError(error: GatewayError): void {
    this.#finishWith(() => this.#exchange.fail(error));
  }

  onOver(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#turn);
    if (this.#arrived.length > 0) this.#countRest();
  }

  /** Counts the bytes that arrived while the relay yielded, for the usage record. The client does not get them. */
  #countRest(): void {
    const rest = concat(this.#arrived);
    this.#arrived = [];
    if (this.#isPartial || this.#isEnded) return;
    this.usage = this.#read(() => this.#reading.push(rest)).usage ?? this.usage;
  }

  /** Runs `last` once everything that arrived is relayed. */
  #finishWith(last: () => void): void {
    this.#last = last;
    this.#relayArrived();
  }

  #relayArrived(): void {
    if (this.#isYielding || this.#hasLeft) return;
    const arrived = this.#arrived;
    if (arrived.length > 0 && !this.#exchange.isOver) {
      this.#arrived = [];
      const arrivedAt = performance.now();
      const bytes = concat(arrived);
      this.#bytesInTurn += bytes.length;
      this.#relay(() => this.#reading.push(bytes), arrivedAt);
    }
    if (this.#last && !this.#hasLeft && !this.#isYielding && !this.#exchange.isOver) this.#last();
  }

  /** Lets other requests run before the rest of a burst is read. */
  #yield(): void {
    this.#isYielding = true;
    this.#exchange.call?.pause();
    this.#turn = setImmediate(() => this.#proceed());
  }

  #proceed(): void {
    this.#turn = undefined;
    // The client's `drain` continues.
    if (this.#isStalled) return;
    this.#bytesInTurn = 0;
    this.#isYielding = false;
    try {
      if (this.#isPartial) this.#relay(() => this.#reading.proceed?.() ?? noPiece);
      this.#relayArrived();
    } catch (thrown) {
      this.#exchange.fail(toAnswerError(thrown));
    }
    if (!this.#isYielding && !this.#isStalled) this.#exchange.call?.resume();
  }

  /** Catches exceptions, because a microtask has no caller that does. */
  #relayLater(): void {
    try {
      this.#relayArrived();
    } catch (thrown) {
      this.#exchange.fail(toAnswerError(thrown));
    }
  }

  /** Catches exceptions, because an uncaught one would end the process and all open streams. */
  #read(read: () => StreamPiece): StreamPiece {
    try {
      return read();
    } catch (thrown) {
      return { ...noPiece, ending: toAnswerError(thrown) };
    }
  }

  /** @param bytesArrivedAt undefined for bytes of an earlier turn */
  #relay(read: () => StreamPiece, bytesArrivedAt?: number): void {
    const { bytes, usage, ending, isPartial = false } = this.#read(read);
    const arrivedAt = bytesArrivedAt ?? performance.now();
    this.#isPartial = isPartial;
    this.#isEnded = ending !== null;
    if (ending !== null && ending !== "done" && this.#exchange.divert(ending)) return this.#leave();
    if (usage) this.usage = usage;
    if (ending === "done") return this.#succeed(bytes, arrivedAt);
    if (bytes.length > 0) {
      this.firstTokenAt ??= performance.now();
      this.#send(bytes, arrivedAt);
    }
    if (ending) return this.#exchange.fail(ending);
    if ((isPartial || this.#bytesInTurn >= bytesInTurnMax) && !this.#exchange.isOver) this.#yield();
  }

  /** Another candidate's relay now has the exchange. The client never gets this relay's bytes. */
  #leave(): void {
    this.#hasLeft = true;
    this.#arrived = [];
    this.onOver();
  }

  #send(bytes: BytesOrText, arrivedAt: number): void {
    this.#begin(arrivedAt);
    this.#lastWriteAt = arrivedAt;
    if (this.#exchange.reply.write(bytes)) return;
    this.#isStalled = true;
    this.#exchange.call?.pause();
  }

  #succeed(chunks: BytesOrText, arrivedAt: number): void {
    this.firstTokenAt ??= performance.now();
    this.#exchange.succeed(() => {
      this.#begin(arrivedAt);
      this.#exchange.reply.endStream(chunks);
    });
  }

  #begin(arrivedAt: number): void {
    const { reply } = this.#exchange;
    if (!reply.hasBegun) reply.beginStream(this.#exchange.answerHeaders(arrivedAt));
  }

  #resume(): void {
    this.#isStalled = false;
    this.#lastWriteAt = performance.now();
    if (!this.#isYielding) this.#exchange.call?.resume();
    else if (this.#turn === undefined) this.#turn = setImmediate(() => this.#proceed());
  }

  /** Ends the request of a client that stopped reading without closing its connection. */
  #abandon(): void {
    this.#exchange.cancel();
    this.#exchange.reply.abandon();
  }

  /** One timer serves pings and stalled clients. It compares times when it fires, so chunks need not reset it. */
  #watch(delayMs: number): void {
    this.#timer = setTimeout(() => {
      const silentMs = performance.now() - this.#lastWriteAt;
      const limitMs = this.#isStalled ? this.#options.clientStallTimeoutMs : this.#options.pingIntervalMs;
      if (silentMs < limitMs) return this.#watch(limitMs - silentMs);
      if (this.#isStalled) return this.#abandon();
      this.#send(pingComment, performance.now());
      return this.#watch(this.#options.pingIntervalMs);
    }, delayMs);
  }
}

/** Keeps proxies from closing an idle stream. Clients ignore comments. */
const pingComment = Buffer.from(": ping\n\n");

/** Tiny events of this size take some 50 ms. */
const bytesInTurnMax = 256 * 1024;

/** Converts an upstream's stream to the client's events. */
export type StreamReading = {
  /** The required media type of the upstream's stream, without parameters. */
  readonly contentType: string;
  readonly output: { readonly tokens: number };
  push(bytes: Buffer): StreamPiece;
  /** Continues after a partial piece. */
  proceed?(): StreamPiece;
  /** Runs when the upstream's body ends. */
  end(): StreamPiece;
};

export type StreamPiece = NativePiece & {
  /** Whether the reading must `proceed` in a later turn of the event loop, before the next `push`. */
  isPartial?: boolean;
};

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
  readonly #options: Pick<NativeStreamOptions, "eventBytesMax" | "secret">;
  readonly #splitter: EventSplitter;
  readonly #reader: NativeReader;

  constructor(options: NativeStreamOptions) {
    const { native, request, slug, eventBytesMax, secret } = options;
    // The request stays out, because its outline may be large.
    this.#options = { eventBytesMax, secret };
    this.output = new OutputMeter(native.outputNames());
    this.#splitter = new EventSplitter(eventBytesMax);
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
