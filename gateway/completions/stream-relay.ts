import { GatewayError } from "../errors.ts";
import type { UpstreamEvents, UpstreamHeaders } from "../upstream/upstream-call.ts";
import { ChunkRewriter } from "./chunk-rewriter.ts";
import { ErrorCollector } from "./error-collector.ts";
import { EventSplitter } from "./event-splitter.ts";
import type { Exchange } from "./exchange.ts";
import { readUpstreamErrorEvent } from "./read-upstream-error.ts";

type StreamRelayOptions = {
  slug: string;
  withholdsUsage: boolean;
  eventBytesMax: number;
  pingIntervalMs: number;
  clientStallTimeoutMs: number;
};

/**
 * Brings a stream of chunks to the client as it comes, whole events at a time. The head is held back until the first of
 * them (or the first ping), so that an upstream that fails before it gets a proper error status. A stream is a success
 * only if the upstream ended it with `[DONE]`.
 */
export class StreamRelay implements UpstreamEvents {
  readonly #exchange: Exchange;
  readonly #options: StreamRelayOptions;
  readonly #splitter: EventSplitter;
  readonly #rewriter: ChunkRewriter;
  /** What has come since control was last given back to Node. */
  #arrived: Buffer[] = [];
  #error: ErrorCollector | null = null;
  #timer: NodeJS.Timeout | undefined;
  #lastWriteAt = 0;
  #isStalled = false;

  constructor(exchange: Exchange, options: StreamRelayOptions) {
    this.#exchange = exchange;
    this.#options = options;
    this.#splitter = new EventSplitter(options.eventBytesMax);
    this.#rewriter = new ChunkRewriter(options);
    exchange.reply.onDrain(() => this.#resume());
    exchange.onOver(() => clearTimeout(this.#timer));
  }

  onHeaders(status: number, headers: UpstreamHeaders): void {
    if (status !== 200) this.#error = new ErrorCollector(this.#exchange, status, headers);
    else if (!/^text\/event-stream\b/i.test(String(headers["content-type"])))
      this.#fail("not a stream of events");
    else if (headers["content-encoding"] !== undefined && headers["content-encoding"] !== "identity") {
      this.#fail("compressed, though it was asked not to");
    } else {
      this.#lastWriteAt = performance.now();
      this.#watch(Math.min(this.#options.pingIntervalMs, this.#options.clientStallTimeoutMs));
    }
  }

  /** What the network brought together is handled together, once: an upstream may frame every event on its own. */
  onData(bytes: Buffer): void {
    if (this.#error) return this.#error.add(bytes);
    // An upstream that goes on after the end is not listened to until it stops.
    if (this.#exchange.isOver) return this.#exchange.dropUpstream();
    if (this.#arrived.push(bytes) === 1) queueMicrotask(() => this.#relayArrived());
  }

  onEnd(): void {
    if (this.#error) return this.#error.finish();
    this.#relayArrived();
    if (!this.#exchange.isOver) this.#fail("cut off: it ended before it was done");
  }

  onError(error: GatewayError): void {
    this.#relayArrived();
    this.#exchange.fail(error);
  }

  #relayArrived(): void {
    const arrived = this.#arrived;
    if (arrived.length === 0 || this.#exchange.isOver) return;
    this.#arrived = [];
    const arrivedAt = performance.now();
    const events = this.#splitter.push(concat(arrived));
    if (events) this.#relayEvents(events, arrivedAt);
    if (this.#splitter.isTooLong) this.#fail(`one event longer than ${this.#options.eventBytesMax} bytes`);
  }

  #relayEvents(events: Buffer, arrivedAt: number): void {
    const { bytes, usage, ending } = this.#rewriter.rewrite(events);
    if (usage) this.#exchange.usage = usage;
    this.#exchange.noteFirstToken();
    if (ending?.kind === "done") return this.#succeed(bytes, arrivedAt);
    if (bytes.length > 0) this.#write(bytes, arrivedAt);
    if (ending?.kind === "error")
      this.#exchange.fail(readUpstreamErrorEvent(ending.payload, this.#exchange.secret));
    if (ending?.kind === "garbage") this.#fail("not made of chat completion chunks");
  }

  #write(chunks: Buffer, arrivedAt: number): void {
    this.#begin(arrivedAt);
    this.#lastWriteAt = arrivedAt;
    if (this.#exchange.reply.write(chunks)) return;
    this.#isStalled = true;
    this.#exchange.pauseUpstream();
  }

  #succeed(chunks: Buffer, arrivedAt: number): void {
    this.#exchange.succeed(() => {
      this.#begin(arrivedAt);
      this.#exchange.reply.endStream(Buffer.concat([chunks, doneEvent]));
    });
  }

  #begin(arrivedAt: number): void {
    const { reply } = this.#exchange;
    if (!reply.hasBegun) reply.beginStream(this.#exchange.overheadHeader(arrivedAt));
  }

  #resume(): void {
    this.#isStalled = false;
    this.#lastWriteAt = performance.now();
    this.#exchange.resumeUpstream();
  }

  /** One timer for both: it looks at the clock when it fires instead of being set anew for every chunk. */
  #watch(delayMs: number): void {
    this.#timer = setTimeout(() => {
      const silentMs = performance.now() - this.#lastWriteAt;
      const limitMs = this.#isStalled ? this.#options.clientStallTimeoutMs : this.#options.pingIntervalMs;
      if (silentMs < limitMs) return this.#watch(limitMs - silentMs);
      if (this.#isStalled) return this.#exchange.abandon();
      this.#write(pingComment, performance.now());
      return this.#watch(this.#options.pingIntervalMs);
    }, delayMs);
  }

  #fail(what: string): void {
    this.#exchange.fail(
      new GatewayError("upstream_error", `The answer of the model's provider was ${what}.`),
    );
  }
}

function concat(buffers: Buffer[]): Buffer {
  const [first] = buffers;
  return first && buffers.length === 1 ? first : Buffer.concat(buffers);
}

const doneEvent = Buffer.from("data: [DONE]\n\n");

/** Keeps proxies from closing a stream in which nothing happens for a while; clients skip comments. */
const pingComment = Buffer.from(": ping\n\n");
