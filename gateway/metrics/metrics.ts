import { collectDefaultMetrics, Gauge, Registry, Counter, Histogram } from "prom-client";
import type { Services } from "../services.ts";
import type { RequestObserver, EndedRequest } from "../usage/request-observer.ts";

export class Metrics {
  readonly #registry = new Registry();
  readonly observer: RequestObserver = createRequestMeters(this.#registry);

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
  }

  watch({ openExchanges, recorder, changeFeed, attempts, database }: Services): void {
    const registers = [this.#registry];
    const gauge = (name: string, help: string, value: () => number) =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(value());
        },
      });
    gauge("gateway_open_requests", "Model requests in flight.", () => openExchanges.count().requests);
    gauge("gateway_open_streams", "Streams in flight.", () => openExchanges.count().streams);
    gauge(
      "gateway_usage_spool_bytes",
      "Bytes of usage records on disk that are not in the database yet.",
      () => recorder.waitingBytes,
    );
    gauge(
      "gateway_usage_spool_oldest_age_seconds",
      "Age of the oldest usage record on disk that is not in the database yet.",
      () => recorder.waitingMs / 1_000,
    );
    gauge(
      "gateway_database_writes_failing",
      "1 while the last write to the database failed, otherwise 0.",
      () => (database.writeHealth.trouble === null ? 0 : 1),
    );
    gauge(
      "gateway_key_cache_staleness_seconds",
      "Time since this process last read the key and model changes.",
      () => changeFeed.staleMs / 1_000,
    );
    const cooling = new Gauge({
      name: "gateway_upstream_cool_downs",
      help: "Credentials of a provider that are cooling down.",
      labelNames: ["provider"],
      registers,
      collect() {
        this.reset();
        for (const provider of attempts.coolDowns.coolingProviders()) cooling.inc({ provider });
      },
    });
  }

  async print(): Promise<MetricsPage> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  /** Returns the metrics in a format that can be sent to another process. */
  read(): Promise<ReadMetric[]> {
    return this.#registry.getMetricsAsJSON();
  }

  close(): void {
    this.#registry.clear();
  }
}

export type MetricsPage = { contentType: string; text: string };

export type ReadMetric = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>[number];

/** Labels never contain keys or text from clients. */
function createRequestMeters(registry: Registry): RequestObserver {
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
      const provider = record.provider === "" ? "none" : record.provider;
      const model = slug === null ? "unknown" : modelLabel(slug);
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
    if (seen.size >= modelsMax) return "other";
    seen.add(slug);
    return slug;
  };
}

const modelsMax = 2_000;
