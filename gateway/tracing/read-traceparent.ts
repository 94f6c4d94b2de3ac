import { type SpanContext, TraceFlags } from "@opentelemetry/api";

/**
 * Parses the client's trace context. Null for an invalid one, which starts a new trace.
 * https://www.w3.org/TR/trace-context/#traceparent-header
 */
export function readTraceparent(header: string | null): SpanContext | null {
  if (header === null) return null;
  const [, version, traceId = "", spanId = "", flags = "", more = ""] = pattern.exec(header) ?? [];
  // Only later versions may have more fields, and `ff` is always invalid.
  if (version === undefined || version === "ff" || (version === "00" && more !== "")) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return { traceId, spanId, traceFlags, isRemote: true };
}

const pattern = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
