import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Services } from "../services.ts";
import type { RequestObserver } from "../usage/request-observer.ts";
import { createRequestMeters } from "./request-meters.ts";

export class Metrics {
  readonly #registry = new Registry();
  readonly observer: RequestObserver = createRequestMeters(this.#registry);

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
  }

  watch(services: Services): void {
    watchServices(this.#registry, services);
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

function watchServices(registry: Registry, services: WatchedServices): void {
  const { openExchanges, recorder, changeFeed, attempts, database } = services;
  const registers = [registry];
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

type WatchedServices = Pick<Services, "openExchanges" | "recorder" | "changeFeed" | "attempts" | "database">;
