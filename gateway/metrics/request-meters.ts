import { Counter, Histogram, type Registry } from "prom-client";
import type { EndedRequest, RequestObserver } from "../usage/request-observer.ts";

/** Labels never contain keys or text from clients. */
export function createRequestMeters(registry: Registry): RequestObserver {
  const registers = [registry];
  const requests = new Counter({
    name: "gateway_requests_total",
    help: "Finished model requests, by client HTTP status and outcome.",
    labelNames: ["endpoint", "provider", "model", "status", "outcome"],
    registers,
  });
  const errors = new Counter({
    name: "gateway_request_errors_total",
    help: "Failed model requests, by the gateway's error code.",
    labelNames: ["provider", "code"],
    registers,
  });
  const refusals = new Counter({
    name: "gateway_refusals_total",
    help: "Rejected requests to /v1 that are unauthenticated or not model requests.",
    labelNames: ["code"],
    registers,
  });
  const upstreamRefusals = new Counter({
    name: "gateway_upstream_refusals_total",
    help: "Upstream calls that failed to connect or were refused. Each starts a cool-down.",
    labelNames: ["provider", "reason"],
    registers,
  });
  const duration = new Histogram({
    name: "gateway_request_duration_seconds",
    help: "Duration of model requests, from the request headers to the end of the response.",
    labelNames: ["endpoint", "provider", "stream"],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900],
    registers,
  });
  const firstToken = new Histogram({
    name: "gateway_time_to_first_token_seconds",
    help: "Time to first token of streams, from the request headers.",
    labelNames: ["endpoint", "provider"],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    registers,
  });
  const tokens = new Counter({
    name: "gateway_tokens_total",
    help: "Tokens by type. Input includes cached tokens, and output includes reasoning tokens.",
    labelNames: ["provider", "model", "type"],
    registers,
  });
  const modelLabel = limitModels();

  return {
    ended({ record, model: slug, errorCode }: EndedRequest) {
      const { endpoint, httpStatus: status, status: outcome } = record;
      const provider = record.provider === "" ? none : record.provider;
      const model = slug === null ? unknown : modelLabel(slug);
      requests.inc({ endpoint, provider, model, status, outcome: outcome.toLowerCase() });
      if (errorCode !== null) errors.inc({ provider, code: errorCode });
      duration.observe({ endpoint, provider, stream: String(record.stream) }, record.latencyMs / 1_000);
      if (record.stream && record.timeToFirstTokenMs !== null) {
        firstToken.observe({ endpoint, provider }, record.timeToFirstTokenMs / 1_000);
      }
      const counts = {
        input: record.inputTokens,
        output: record.outputTokens,
        cached_input: record.cachedInputTokens,
        reasoning: record.reasoningTokens,
      };
      for (const [type, count] of Object.entries(counts)) {
        if (count !== null && count > 0) tokens.inc({ provider, model, type }, count);
      }
    },
    answered() {},
    refused: (_request, code) => refusals.inc({ code }),
    upstreamRefused: (provider, reason) => upstreamRefusals.inc({ provider, reason }),
  };
}

/** Limits the number of model labels, because a program could keep creating models. */
function limitModels(): (slug: string) => string {
  const seen = new Set<string>();
  return (slug) => {
    if (seen.has(slug)) return slug;
    if (seen.size >= modelsMax) return other;
    seen.add(slug);
    return slug;
  };
}

const modelsMax = 2_000;
const other = "other";
const unknown = "unknown";
const none = "none";
