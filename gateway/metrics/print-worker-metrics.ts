import { AggregatorRegistry } from "prom-client";
import type { MetricsPage, ReadMetric } from "./metrics.ts";

/**
 * The metrics of several workers as one page, told apart by a label: a sum over them would fall when a worker is
 * replaced, and a counter that falls counts as one that began anew.
 */
export async function printWorkerMetrics(byWorker: ReadonlyMap<number, ReadMetric[]>): Promise<MetricsPage> {
  const metrics = [...byWorker].map(([worker, read]) =>
    // The label makes every value the only one of its kind; nothing is added up, and nothing left out.
    read.map((metric) => ({
      ...metric,
      aggregator: "sum" as const,
      values: metric.values.map((value) => ({ ...value, labels: { worker, ...value.labels } })),
    })),
  );
  const registry = AggregatorRegistry.aggregate(metrics);
  return { contentType: registry.contentType, text: await registry.metrics() };
}
