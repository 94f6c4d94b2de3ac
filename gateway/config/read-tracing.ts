import type { Values } from "./variables.ts";

export type TracingConfig = NonNullable<ReturnType<typeof readTracing>>;

/** The trace exporter's settings and sampler. Null if tracing is off. */
export function readTracing(data: Values) {
  if (data.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return null;
  const attributes = data.OTEL_RESOURCE_ATTRIBUTES;
  return {
    // The variable contains the base URL for all signals.
    url: `${data.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`,
    protocol: data.OTEL_EXPORTER_OTLP_PROTOCOL,
    headers: data.OTEL_EXPORTER_OTLP_HEADERS,
    timeoutMs: data.OTEL_EXPORTER_OTLP_TIMEOUT,
    /** The time that a batch waits for further spans. */
    delayMs: data.OTEL_BSP_SCHEDULE_DELAY,
    queueSpansMax: data.OTEL_BSP_MAX_QUEUE_SIZE,
    serviceName: data.OTEL_SERVICE_NAME ?? attributes["service.name"] ?? "model-gateway",
    attributes,
    sampler: data.OTEL_TRACES_SAMPLER,
    /** The share of traces that a ratio sampler keeps, from 0 to 1. */
    sampledShare: data.OTEL_TRACES_SAMPLER_ARG,
  };
}
