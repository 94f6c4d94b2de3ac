import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { ExecutionContext } from "ava";
import { eventually, hangMs } from "../helpers/eventually.ts";
import { listen } from "../helpers/listen.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

/** Starts an OTLP collector over HTTP. Its `spans` and `requests` work only with JSON. */
export async function startCollector(
  t: Pick<ExecutionContext, "teardown">,
  answer: (response: ServerResponse) => void = (response) => void response.end("{}"),
): Promise<TraceCollector> {
  const batches: Batch[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { url = "", headers } = request;
    batches.push({ url, headers, body: Buffer.concat(chunks) });
    response.setHeader("content-type", "application/json");
    answer(response);
  });
  const spans = () => batches.flatMap(({ body }) => readSpans(body));
  return {
    url: `http://127.0.0.1:${await listen(t, server)}`,
    batches,
    spans,
    requests: (count) =>
      eventually(() => {
        const found = spans().filter(({ kind }) => kind === "server");
        return found.length >= count && found.map((span) => ({ span, calls: callsOf(spans(), span) }));
      }),
  };
}

/** Starts a gateway that by default exports its traces to the collector as JSON every 20 ms. */
export function startTracedGateway(
  t: ExecutionContext,
  collector: { url: string },
  environment: Record<string, string> = {},
): Promise<TestGateway> {
  return startTestGateway(t, {
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "20",
      OTEL_EXPORTER_OTLP_TIMEOUT: String(hangMs),
      ...environment,
    },
  });
}

/**
 * Closes the gateway, which sends its remaining spans. After 3 s, it gives up on the collector, and a busy machine may
 * need longer.
 */
export async function closeWithSpans(gateway: TestGateway, { batches }: TraceCollector): Promise<void> {
  const beganAt = performance.now();
  await gateway.close();
  if (performance.now() - beganAt >= 3_000) await eventually(() => batches.length > 0);
}

export type TraceCollector = {
  url: string;
  batches: Batch[];
  spans(): Span[];
  /** Waits for at least `count` request spans. Returns all request spans with their child spans. */
  requests(count: number): Promise<{ span: Span; calls: Span[] }[]>;
};

type Batch = { url: string; headers: IncomingHttpHeaders; body: Buffer };

type Span = {
  name: string;
  kind: "internal" | "server" | "client" | "other";
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  startMs: number;
  endMs: number;
  hasFailed: boolean;
  attributes: Record<string, unknown>;
  resource: Record<string, unknown>;
};

function callsOf(spans: Span[], { traceId, spanId }: Span): Span[] {
  return spans
    .filter((span) => span.traceId === traceId && span.parentSpanId === spanId)
    .toSorted((one, other) => one.startMs - other.startMs);
}

type Value = Record<string, unknown> & { arrayValue?: { values: Value[] } };
type Attribute = { key: string; value: Value };
type OtlpSpan = Record<"name" | "traceId" | "spanId" | "startTimeUnixNano" | "endTimeUnixNano", string> & {
  kind: number;
  parentSpanId?: string;
  attributes: Attribute[];
  status: { code: number };
};

/** Reads OTLP's JSON encoding: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
function readSpans(body: Buffer): Span[] {
  const { resourceSpans } = JSON.parse(body.toString("utf8")) as {
    resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
  };
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, traceId, spanId, parentSpanId, ...span }) => ({
        name,
        traceId,
        spanId,
        parentSpanId: parentSpanId ?? null,
        kind: kinds[span.kind] ?? "other",
        startMs: Number(span.startTimeUnixNano) / 1e6,
        endMs: Number(span.endTimeUnixNano) / 1e6,
        hasFailed: span.status.code === 2,
        attributes: readAttributes(span.attributes),
        resource: readAttributes(resource.attributes),
      })),
    ),
  );
}

const kinds: Record<number, Span["kind"]> = { 1: "internal", 2: "server", 3: "client" };

function readAttributes(attributes: Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, readValue(value)]));
}

function readValue(value: Value): unknown {
  return value.arrayValue ? value.arrayValue.values.map(readValue) : Object.values(value)[0];
}
