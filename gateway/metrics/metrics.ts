import { collectDefaultMetrics, Registry } from "prom-client";
import type { Services } from "../services.ts";
import type { RequestObserver } from "../usage/request-observer.ts";
import { createRequestMeters } from "./request-meters.ts";
import { watchServices } from "./watch-services.ts";

/** This process's metrics. Loaded only where somebody wants them. */
export class Metrics {
  readonly #registry = new Registry();
  readonly observer: RequestObserver = createRequestMeters(this.#registry);

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
  }

  watch(services: Services): void {
    watchServices(this.#registry, services);
  }

  /** In Prometheus's text form. */
  async print(): Promise<MetricsPage> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  /** To be sent to another process. */
  read(): Promise<ReadMetric[]> {
    return this.#registry.getMetricsAsJSON();
  }

  close(): void {
    this.#registry.clear();
  }
}

export type MetricsPage = { contentType: string; text: string };

/** A metric with all its values, as a message between processes can carry it. */
export type ReadMetric = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>[number];
