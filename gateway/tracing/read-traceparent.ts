import { type SpanContext, TraceFlags } from "@opentelemetry/api";

/**
 * What the client says its request is part of; null for anything that is not as the standard wants it, which then begins a
 * trace of its own. https://www.w3.org/TR/trace-context/#traceparent-header
 */
export function readTraceparent(header: string | null): SpanContext | null {
  if (header === null) return null;
  const [, version, traceId = "", spanId = "", flags = "", more = ""] = pattern.exec(header) ?? [];
  // Versions to come may say more; this one may not, and `ff` never is one.
  if (version === undefined || version === "ff" || (version === "00" && more !== "")) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return { traceId, spanId, traceFlags, isRemote: true };
}

const pattern = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
