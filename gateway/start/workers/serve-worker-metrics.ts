import type { Log } from "../../log.ts";
import { startMetricsServer } from "../../metrics/metrics-server.ts";
import { printWorkerMetrics } from "../../metrics/print-worker-metrics.ts";
import type { WorkerPool } from "./worker-pool.ts";
import type { Worker } from "node:cluster";
import type { ReadMetric } from "../../metrics/metrics.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

type WorkerMetricsOptions = { host: string; port: number; log: Log; workers: Pick<WorkerPool, "serving"> };

/** One `/metrics` for all workers. Until the process ends: while they drain, they are worth looking at, too. */
export async function serveWorkerMetrics({ host, port, log, workers }: WorkerMetricsOptions): Promise<void> {
  const print = async () => printWorkerMetrics(await readWorkerMetrics(workers.serving));
  const { url } = await startMetricsServer({ host, port, log, print });
  log.info({ url }, "metrics can be read");
}

/** Asks every worker. One that does not answer soon, because it is dying or busy, is missing this time. */
async function readWorkerMetrics(workers: ReadonlyMap<number, Worker>): Promise<Map<number, ReadMetric[]>> {
  const answers = await Promise.all([...workers].map(async ([place, worker]) => [place, await ask(worker)]));
  return new Map(answers.filter((answer): answer is [number, ReadMetric[]] => answer[1] !== null));
}

function ask(worker: Worker): Promise<ReadMetric[] | null> {
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
