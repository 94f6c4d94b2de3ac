import type { Database } from "../../db/database.ts";
import type { Config } from "../config.ts";
import type { Runtime } from "../runtime.ts";
import type { UsageRecorder } from "../usage/usage-recorder.ts";
import { Budgets } from "./budgets.ts";
import { Limiter } from "./limiter.ts";
import { PeriodicTask } from "./periodic-task.ts";

type StartLimitsOptions = {
  config: Config;
  database: Database;
  runtime: Runtime;
  recorder: Pick<UsageRecorder, "readUndisturbed">;
};

/** Everything that keeps limits, and what keeps it up to date. */
export function startLimits({ config, database, runtime, recorder }: StartLimitsOptions) {
  const { limits } = config;
  const { now, log } = runtime;
  const budgets = new Budgets({
    ...{ database, now },
    readUndisturbed: (read) => recorder.readUndisturbed(read),
    warn: () => {},
  });
  const limiter = new Limiter({ now, limits, budgets });
  const refresh = new PeriodicTask({
    run: () => budgets.refresh(),
    intervalMs: limits.budgetRefreshIntervalMs,
    log,
    failure: "cannot read what keys have spent; this process's own counts go on",
  });
  const sweep = setInterval(() => limiter.sweep(), sweepIntervalMs).unref();
  const closeLimits = async () => {
    clearInterval(sweep);
    await refresh.close();
  };
  return { budgets, limiter, closeLimits };
}

const sweepIntervalMs = 10_000;
