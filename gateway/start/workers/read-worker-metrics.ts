import type { Worker } from "node:cluster";
import type { ReadMetric } from "../../metrics/metrics.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

/** Asks every worker. One that does not answer soon, because it is dying or busy, is missing this time. */
export async function readWorkerMetrics(
  workers: ReadonlyMap<number, Worker>,
): Promise<Map<number, ReadMetric[]>> {
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
