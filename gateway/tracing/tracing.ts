import { setTimeout as wait } from "node:timers/promises";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import {
  TracerProvider,
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace";
import type { Runtime } from "../runtime.ts";
import type { TracingConfig } from "../config/read-tracing.ts";
import type { RequestObserver } from "../usage/request-observer.ts";
import { createRequestSpans } from "./request-spans.ts";
import type { Log } from "../log.ts";

/** Registers no global tracer provider. */
export class Tracing {
  readonly observer: RequestObserver;
  readonly #provider: TracerProvider;

  constructor(config: TracingConfig, runtime: Runtime) {
    const { url, headers, timeoutMs, serviceName, attributes } = config;
    const Exporter = config.protocol === "http/json" ? JsonExporter : ProtobufExporter;
    const connection = { url, headers, timeoutMillis: timeoutMs, httpAgentOptions: { keepAlive: false } };
    const hex = (bytes: number) => () => runtime.randomBytes(bytes).toString("hex");
    this.#provider = new TracerProvider({
      resource: defaultResource().merge(
        resourceFromAttributes({
          "process.pid": process.pid,
          ...attributes,
          "service.name": serviceName,
        }),
      ),
      sampler: createSampler(config),
      idGenerator: { generateTraceId: hex(16), generateSpanId: hex(8) },
      spanProcessors: [new SpanDelivery({ ...config, exporter: new Exporter(connection), runtime })],
    });
    this.observer = createRequestSpans(this.#provider.getTracer("model-gateway"), runtime.now);
  }

  /** Waits at most `lastSpansTimeoutMs` for the collector to accept the remaining spans. */
  async close(): Promise<void> {
    const givingUp = new AbortController();
    const { signal } = givingUp;
    // `SpanDelivery` logs failures.
    const sent = this.#provider.shutdown().catch(() => {});
    await Promise.race([sent, wait(lastSpansTimeoutMs, null, { signal }).catch(() => {})]);
    givingUp.abort();
  }
}

const lastSpansTimeoutMs = 3_000;

/** A `parentbased_` sampler follows the client's `traceparent`, if present. */
function createSampler({ sampler, sampledShare }: Pick<TracingConfig, "sampler" | "sampledShare">): Sampler {
  const root = sampler.endsWith("always_on")
    ? new AlwaysOnSampler()
    : sampler.endsWith("always_off")
      ? new AlwaysOffSampler()
      : new TraceIdRatioBasedSampler(sampledShare);
  return sampler.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
}

type SpanDeliveryOptions = Pick<TracingConfig, "delayMs" | "timeoutMs" | "queueSpansMax"> & {
  exporter: SpanExporter;
  runtime: Pick<Runtime, "monotonicNow" | "log">;
};

/**
 * Logs the number of lost spans, at most once a minute. OpenTelemetry's batch processor reports losses only to
 * OpenTelemetry's global logger, which is off by default.
 */
export class SpanDelivery implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  readonly #queueSpansMax: number;
  readonly #log: Log;
  readonly #now: () => number;
  /** The number of queued spans. */
  #waiting = 0;
  #lost = 0;
  #toldAt = -Infinity;

  constructor({ exporter, runtime, delayMs, timeoutMs, queueSpansMax }: SpanDeliveryOptions) {
    this.#queueSpansMax = queueSpansMax;
    this.#log = runtime.log;
    this.#now = runtime.monotonicNow;
    this.#batches = new BatchSpanProcessor({
      exporter: this.#watch(exporter),
      scheduledDelayMillis: delayMs,
      maxQueueSize: queueSpansMax,
      maxExportBatchSize: Math.min(batchSpansMax, queueSpansMax),
      // One second longer, so that the exporter's own timeout fires first.
      exportTimeoutMillis: Math.min(timeoutMs + 1_000, timerMsMax),
    });
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#waiting >= this.#queueSpansMax) return this.#lose(1, "queue_full");
    this.#waiting++;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  #watch(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) => {
        this.#waiting -= spans.length;
        exporter.export(spans, (result) => {
          if (result.code !== 0) this.#lose(spans.length, reasonOf(result.error));
          done(result);
        });
      },
      shutdown: () => exporter.shutdown(),
    };
  }

  #lose(spans: number, reason: string): void {
    this.#lost += spans;
    const now = this.#now();
    if (now - this.#toldAt < reportIntervalMs) return;
    this.#log.warn({ lostSpans: this.#lost, reason }, "traces do not reach their collector");
    this.#toldAt = now;
    this.#lost = 0;
  }
}

/** Returns no error message, because messages may quote the collector's response. */
function reasonOf(error: Error | undefined): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" || typeof code === "number" ? String(code) : (error?.name ?? "unknown");
}

/** Node fires a timer with a longer delay at once. */
const timerMsMax = 2 ** 31 - 1;
const batchSpansMax = 512;
const reportIntervalMs = 60_000;
