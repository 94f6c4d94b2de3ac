import type { Log } from "../../log.ts";
import { startMetricsServer } from "../../metrics/metrics-server.ts";
import { printWorkerMetrics } from "../../metrics/print-worker-metrics.ts";
import { readWorkerMetrics } from "./read-worker-metrics.ts";
import type { WorkerPool } from "./worker-pool.ts";

type WorkerMetricsOptions = { host: string; port: number; log: Log; workers: Pick<WorkerPool, "serving"> };

/** One `/metrics` for all workers. Until the process ends: while they drain, they are worth looking at, too. */
export async function serveWorkerMetrics({ host, port, log, workers }: WorkerMetricsOptions): Promise<void> {
  const print = async () => printWorkerMetrics(await readWorkerMetrics(workers.serving));
  const { url } = await startMetricsServer({ host, port, log, print });
  log.info({ url }, "metrics can be read");
}
