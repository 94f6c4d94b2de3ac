import type { Worker } from "node:cluster";
import { AggregatorRegistry } from "prom-client";
import type { Log } from "../../log.ts";
import { startMetricsServer } from "../../metrics/metrics-server.ts";
import type { WorkerPool } from "./worker-pool.ts";
import type { MetricsPage, ReadMetric } from "../../metrics/metrics.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

type WorkerMetricsOptions = { host: string; port: number; log: Log; workers: Pick<WorkerPool, "serving"> };

/** Serves `/metrics` until the process ends, so that the page also includes workers that drain. */
export async function serveWorkerMetrics({ host, port, log, workers }: WorkerMetricsOptions): Promise<void> {
  const print = async () => printWorkerMetrics(await readWorkerMetrics(workers.serving));
  const { url } = await startMetricsServer({ host, port, log, print });
  log.info({ url }, "metrics are available");
}

/** Omits a worker that exits or does not respond in time. */
async function readWorkerMetrics(workers: ReadonlyMap<number, Worker>): Promise<Map<number, ReadMetric[]>> {
  const answers = await Promise.all(
    [...workers].map(async ([slot, worker]) => [slot, await readMetricsOf(worker)]),
  );
  return new Map(answers.filter((answer): answer is [number, ReadMetric[]] => answer[1] !== null));
}

function readMetricsOf(worker: Worker): Promise<ReadMetric[] | null> {
  return new Promise((resolve) => {
    const onMessage = (message: FromWorker) => {
      if (message.kind === "metrics") finish(message.metrics);
    };
    const onExit = () => finish(null);
    const finish = (metrics: ReadMetric[] | null) => {
      clearTimeout(timer);
      worker.off("message", onMessage).off("exit", onExit);
      resolve(metrics);
    };
    const timer = setTimeout(onExit, answerTimeoutMs);
    worker.on("message", onMessage).on("exit", onExit);
    worker.send({ kind: "metrics" } satisfies ToWorker, () => {});
  });
}

const answerTimeoutMs = 2_000;

/** Labels by worker, because a sum would fall when a worker is replaced, which looks like a counter reset. */
async function printWorkerMetrics(byWorker: ReadonlyMap<number, ReadMetric[]>): Promise<MetricsPage> {
  const metrics = [...byWorker].map(([worker, read]) =>
    // The label makes every value unique, so no value is summed or lost.
    read.map((metric) => ({
      ...metric,
      aggregator: "sum" as const,
      values: metric.values.map((value) => ({ ...value, labels: { worker, ...value.labels } })),
    })),
  );
  const registry = AggregatorRegistry.aggregate(metrics);
  return { contentType: registry.contentType, text: await registry.metrics() };
}
