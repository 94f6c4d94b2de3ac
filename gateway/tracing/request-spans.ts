import {
  type Attributes,
  type HrTime,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
  type SpanContext,
  TraceFlags,
} from "@opentelemetry/api";
import type {
  ObservedCall,
  ObservedRequest,
  ObservedUpstream,
  EndedRequest,
  RequestObserver,
} from "../usage/request-observer.ts";
import { findKind } from "../providers/registry.ts";

/**
 * Creates all spans when the request ends: one for the request, and a child span for each upstream call.
 * Spans contain no text from clients or upstreams.
 * @param now returns milliseconds since 1970
 */
export function createRequestSpans(tracer: Tracer, now: () => number): RequestObserver {
  const startSpan = (request: ObservedRequest, startTime: HrTime): Span => {
    const { method, route, traceparent } = request;
    const parent = readTraceparent(traceparent);
    const context = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
    const name = route === null ? method : `${method} ${route}`;
    return tracer.startSpan(name, { kind: SpanKind.SERVER, startTime }, context);
  };
  const toTime = () => {
    const originMs = now() - performance.now();
    return (moment: number) => hrTime(originMs + moment);
  };
  const showPlain = (request: ObservedRequest, httpStatus: number, errorType: string | null) => {
    const at = toTime();
    const span = startSpan(request, at(request.startedAt));
    span.setAttributes(describeHttp(request, httpStatus, errorType));
    if (httpStatus >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(at(performance.now()));
  };

  return {
    ended(ended) {
      const { request, record } = ended;
      if (request === null) return;
      const at = toTime();
      const span = startSpan(request, at(request.startedAt));
      if (!span.isRecording()) return;
      const endedAt = performance.now();
      const context = trace.setSpan(ROOT_CONTEXT, span);
      for (const call of describeCalls(ended)) {
        const { name, kind, attributes, startedAt } = call;
        const child = tracer.startSpan(name, { kind, attributes, startTime: at(startedAt) }, context);
        if (call.hasFailed) child.setStatus({ code: SpanStatusCode.ERROR });
        child.end(at(call.endedAt ?? endedAt));
      }
      const errorType = record.status === "CANCELLED" ? "cancelled" : ended.errorCode;
      span.setAttributes({
        ...describeHttp(request, record.httpStatus, errorType),
        ...describeModel(ended),
      });
      // A status of 4xx is the client's mistake. A broken stream has status 200.
      const hasFailed = record.httpStatus >= 500 || (record.httpStatus === 200 && ended.errorCode !== null);
      if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(at(endedAt));
    },
    refused(request, code, httpStatus) {
      if (request) showPlain(request, httpStatus, code);
    },
    answered(request, httpStatus) {
      showPlain(request, httpStatus, httpStatus === 499 ? "cancelled" : null);
    },
    upstreamRefused() {},
  };
}

/** https://opentelemetry.io/docs/specs/semconv/http/http-spans/ */
function describeHttp(
  { id, method, route }: ObservedRequest,
  status: number,
  errorType: string | null,
): Attributes {
  return {
    "http.request.method": method,
    "url.scheme": "http",
    "http.response.status_code": status,
    "http.response.header.x-request-id": [id],
    ...(route !== null && { "http.route": route }),
    // A path with parameters contains the client's text.
    ...(route !== null && !route.includes("{") && { "url.path": route }),
    ...(errorType !== null && { "error.type": errorType }),
  };
}

/** Only the request's span has token counts, so that sums over all spans count each token once. */
function describeModel({ record, model, request, telemetryName }: EndedRequest): Attributes {
  const candidate = request?.calls.at(-1)?.candidate;
  const hasAnswered = record.status === "SUCCEEDED";
  const attributes: Record<string, string | number | boolean | null> = {
    "gen_ai.operation.name": telemetryName,
    "gen_ai.provider.name": candidate ? genAiProviderName(candidate) : null,
    "gen_ai.request.model": model,
    "gen_ai.request.stream": record.stream || null,
    "gen_ai.response.model": hasAnswered ? record.upstreamModel : null,
    "gen_ai.response.time_to_first_chunk":
      record.stream && record.timeToFirstTokenMs !== null ? record.timeToFirstTokenMs / 1_000 : null,
    "gen_ai.usage.input_tokens": record.inputTokens,
    "gen_ai.usage.output_tokens": record.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": record.cachedInputTokens,
    "gen_ai.usage.cache_write.input_tokens": record.cacheWriteInputTokens,
    "gen_ai.usage.reasoning.output_tokens": record.reasoningTokens,
  };
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null)) as Attributes;
}

/** Returns seconds and nanoseconds, because OpenTelemetry guesses the unit of a plain number. */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.floor((ms - seconds * 1_000) * 1e6)];
}

/** https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/client-inference.md */
function describeCalls(ended: EndedRequest) {
  return (ended.request?.calls ?? []).map((call, index, calls) => {
    const isLast = index === calls.length - 1;
    const { candidate, startedAt, endedAt } = call;
    const status = statusOf(call);
    const errorType = errorTypeOf(call, isLast ? ended : null);
    const firstTokenAt = isLast && ended.record.stream ? ended.firstTokenAt : null;
    return {
      name: `${ended.telemetryName} ${candidate.upstreamModel.name}`,
      kind: isLocal(candidate) ? SpanKind.INTERNAL : SpanKind.CLIENT,
      startedAt,
      endedAt,
      hasFailed: errorType !== null && errorType !== cancelled,
      attributes: {
        "gen_ai.operation.name": ended.telemetryName,
        "gen_ai.provider.name": genAiProviderName(candidate),
        "gen_ai.request.model": candidate.upstreamModel.name,
        ...(ended.record.stream && { "gen_ai.request.stream": true }),
        ...(index > 0 && { "http.request.resend_count": index }),
        ...(status !== null && { "http.response.status_code": status }),
        ...(firstTokenAt !== null && {
          "gen_ai.response.time_to_first_chunk": (firstTokenAt - startedAt) / 1_000,
        }),
        ...(errorType !== null && { "error.type": errorType }),
        ...describeServer(candidate),
      },
    };
  });
}

function statusOf({ httpStatus, refusal }: ObservedCall): number | null {
  const refused = /^http_(\d{3})$/.exec(refusal ?? "")?.[1];
  return refused === undefined ? httpStatus : Number(refused);
}

/** @param ended the ended request. Null unless `call` is its last upstream call. */
function errorTypeOf(call: ObservedCall, ended: EndedRequest | null): string | null {
  const status = statusOf(call);
  if (status !== null && status !== 200) return String(status);
  if (call.refusal !== null) return call.refusal;
  return ended?.record.status === "CANCELLED" ? cancelled : (ended?.errorCode ?? null);
}

/** Whether the upstream runs inside this process. */
function isLocal({ apis }: ObservedUpstream): boolean {
  return apis["chat/completions"]?.endpoint.answer !== undefined;
}

function describeServer({ apis }: ObservedUpstream): Attributes {
  const endpoint = apis["chat/completions"]?.endpoint;
  if (endpoint === undefined || endpoint.answer) return {};
  const { hostname, port, protocol } = new URL(endpoint.origin);
  return { "server.address": hostname, "server.port": Number(port || (protocol === "https:" ? 443 : 80)) };
}

const cancelled = "cancelled";

/**
 * The provider's name in OpenTelemetry's conventions, or else the preset's or the provider's own name.
 * https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/registry/attributes/gen-ai.md
 */
function genAiProviderName({ preset, providerKind, providerName }: ObservedUpstream): string {
  const kind = findKind(providerKind);
  const { telemetryName } = kind?.presets.find(({ name }) => name === preset) ?? {};
  return telemetryName ?? kind?.telemetryName ?? preset ?? providerName;
}

/** Null starts a new trace. https://www.w3.org/TR/trace-context/#traceparent-header */
export function readTraceparent(header: string | null): SpanContext | null {
  if (header === null) return null;
  const [, version, traceId = "", spanId = "", flags = "", more = ""] = pattern.exec(header) ?? [];
  // Only versions after 00 may have more fields, and version ff is always invalid.
  if (version === undefined || version === "ff" || (version === "00" && more !== "")) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return { traceId, spanId, traceFlags, isRemote: true };
}

const pattern = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
