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
} from "@opentelemetry/sdk-trace";
import type { Runtime } from "../runtime.ts";
import type { TracingConfig } from "../config/tracing-variables.ts";
import type { RequestObserver } from "../usage/request-observer.ts";
import { createRequestSpans } from "./request-spans.ts";
import { SpanDelivery } from "./span-delivery.ts";

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
  const root = () => new TraceIdRatioBasedSampler(sampledShare);
  const samplers: Record<TracingConfig["sampler"], () => Sampler> = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: root,
    parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
    parentbased_traceidratio: () => new ParentBasedSampler({ root: root() }),
  };
  return samplers[sampler]();
}
