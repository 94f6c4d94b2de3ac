import * as z from "zod";
import { httpUrl, wholeNumber } from "./config-values.ts";

const shareProblem = "is not a share of the traces. Use a number from 0 to 1, such as 0.1.";

/** OpenTelemetry's own variables: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(["http/protobuf", "http/json"], "is not supported. Use http/protobuf or http/json.")
    .default("http/protobuf"),
  OTEL_EXPORTER_OTLP_HEADERS: pairs("api-key=secret", isHeader).default({}),
  OTEL_EXPORTER_OTLP_TIMEOUT: wholeNumber("is not a number of milliseconds.", 1).default(10_000),
  OTEL_BSP_SCHEDULE_DELAY: wholeNumber("is not a number of milliseconds.", 1).default(5_000),
  OTEL_BSP_MAX_QUEUE_SIZE: wholeNumber("is not a number of spans.", 1).default(2_048),
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_RESOURCE_ATTRIBUTES: pairs("deployment.environment.name=production", () => true).default({}),
  OTEL_TRACES_SAMPLER: z
    .enum(
      [
        "always_on",
        "always_off",
        "traceidratio",
        "parentbased_always_on",
        "parentbased_always_off",
        "parentbased_traceidratio",
      ],
      "is not a sampler. Use always_on, always_off or traceidratio, each with or without the prefix parentbased_.",
    )
    .default("parentbased_always_on"),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number(shareProblem).min(0, shareProblem).max(1, shareProblem).default(1),
};

/** The trace exporter's settings and sampler. Null if tracing is off. */
export function readTracing(data: TracingValues): TracingConfig | null {
  if (data.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return null;
  const attributes = data.OTEL_RESOURCE_ATTRIBUTES;
  return {
    // The variable contains the base URL for all signals.
    url: `${data.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`,
    protocol: data.OTEL_EXPORTER_OTLP_PROTOCOL,
    headers: data.OTEL_EXPORTER_OTLP_HEADERS,
    timeoutMs: data.OTEL_EXPORTER_OTLP_TIMEOUT,
    delayMs: data.OTEL_BSP_SCHEDULE_DELAY,
    queueSpansMax: data.OTEL_BSP_MAX_QUEUE_SIZE,
    serviceName: data.OTEL_SERVICE_NAME ?? attributes["service.name"] ?? "model-gateway",
    attributes,
    sampler: data.OTEL_TRACES_SAMPLER,
    sampledShare: data.OTEL_TRACES_SAMPLER_ARG,
  };
}

export type TracingConfig = Readonly<{
  url: string;
  protocol: "http/protobuf" | "http/json";
  headers: Record<string, string>;
  timeoutMs: number;
  /** The time that a batch waits for further spans. */
  delayMs: number;
  queueSpansMax: number;
  serviceName: string;
  attributes: Record<string, string>;
  sampler: TracingValues["OTEL_TRACES_SAMPLER"];
  /** The share of traces that a ratio sampler keeps, from 0 to 1. */
  sampledShare: number;
}>;

type TracingValues = z.infer<z.ZodObject<typeof tracingVariables>>;

/** Parses `name=value` pairs, separated by commas, with percent-encoded values. */
function pairs(example: string, fits: (name: string, value: string) => boolean) {
  const message = `is not a list of name=value pairs. Separate the pairs with commas, such as ${example}.`;
  return z.string().transform((text, context) => {
    const read = text
      .split(",")
      .map((pair) => pair.trim())
      .filter((pair) => pair !== "")
      .map(readPair);
    const found = read.filter((pair) => pair !== null && fits(...pair)) as [string, string][];
    if (found.length < read.length) context.addIssue({ code: "custom", message });
    return Object.fromEntries(found) as Record<string, string>;
  });
}

function readPair(pair: string): [string, string] | null {
  const [, name = "", value = ""] = /^([\w.!#$&'*+^`|~/-]+)\s*=\s*(.*)$/.exec(pair) ?? [];
  try {
    const decoded = decodeURIComponent(value);
    return name === "" ? null : [name, decoded];
  } catch {
    return null;
  }
}

/** Rejects line breaks, which would start another header. */
function isHeader(name: string, value: string): boolean {
  return !name.includes("/") && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
