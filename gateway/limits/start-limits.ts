import type { Database } from "../../db/database.ts";
import type { Config } from "../config/config.ts";
import type { Runtime } from "../runtime.ts";
import type { UsageRecorder } from "../usage/recording/usage-recorder.ts";
import { createId } from "../ids.ts";
import { BudgetWarnings, Webhook } from "./budgets/budget-warnings.ts";
import { Budgets } from "./budgets/budgets.ts";
import { LimitsInForce } from "./holders.ts";
import { Limiter } from "./rates/limiter.ts";
import type { Meter } from "./rates/meter.ts";
import { ShareExchange } from "./rates/share-exchange.ts";
import type { Log } from "../log.ts";

type StartLimitsOptions = {
  config: Config;
  database: Database;
  runtime: Runtime;
  recorder: Pick<UsageRecorder, "readUndisturbed" | "onShipped">;
};

export async function startLimits({ config, database, runtime, recorder }: StartLimitsOptions) {
  const { limits } = config;
  const { now, monotonicNow, log } = runtime;
  const { limitWebhook } = config;
  const webhook = limitWebhook && new Webhook({ ...limitWebhook, now });
  const warnings = new BudgetWarnings({ database, runtime, webhook });
  const limitsInForce = new LimitsInForce(limits);
  const budgets = new Budgets({
    database,
    now,
    monotonicNow,
    limits,
    inForce: limitsInForce,
    readUndisturbed: (read) => recorder.readUndisturbed(read),
    warn: (warning) => warnings.add(warning),
  });
  recorder.onShipped((records) => budgets.shipped(records));
  const meters = new Map<string, Meter>();
  const valkey =
    config.valkeyUrl === null
      ? null
      : // The import is dynamic, so that processes without Valkey do not load its client library.
        new (await import("./valkey/valkey-limits.ts")).ValkeyLimits({
          url: config.valkeyUrl,
          timeoutMs: limits.valkeyTimeoutMs,
          log,
          meters,
          createSessionName: () => createId("prc", runtime),
        });
  const exchange = new ShareExchange({
    database,
    now,
    monotonicNow,
    processId: createId("prc", runtime),
    meters,
    intervalMs: limits.limitExchangeIntervalMs,
  });
  const sharedBy = () => exchange.sharedBy;
  const counting = { budgets, meters, sharedBy, exact: valkey };
  const limiter = new Limiter({ now, limits, inForce: limitsInForce, ...counting });
  const refresh = new PeriodicTask({
    run: () => budgets.refresh(),
    intervalMs: limits.budgetRefreshIntervalMs,
    log,
    failure: "cannot read budget spending from the database: using this process's counts",
  });
  const exchanging = new PeriodicTask({
    run: () => exchange.run(),
    intervalMs: limits.limitExchangeIntervalMs,
    log,
    failure: "cannot share limit usage with other processes: each enforces its own share",
  });
  const warning = new PeriodicTask({
    run: () => warnings.work(),
    intervalMs: warningIntervalMs,
    log,
    failure: "cannot write or send budget warnings: will retry",
  });
  const sweep = setInterval(() => limiter.sweep(), sweepIntervalMs).unref();
  const closeLimits = async () => {
    valkey?.close();
    clearInterval(sweep);
    await refresh.close();
    await exchanging.run();
    await exchanging.close();
    await warning.run();
    await warning.close();
  };
  await valkey?.attempted();
  return { limitsInForce, budgets, limiter, closeLimits, exchangeLimits: () => exchanging.run() };
}

const warningIntervalMs = 1_000;
const sweepIntervalMs = 10_000;

type PeriodicTaskOptions = {
  run: () => Promise<void>;
  intervalMs: number;
  log: Log;
  /** The log message for the first of consecutive failures. */
  failure: string;
};

/** A task that repeats, one run at a time, until `close`. */
class PeriodicTask {
  readonly #options: PeriodicTaskOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isFailing = false;
  #isClosed = false;

  constructor(options: PeriodicTaskOptions) {
    this.#options = options;
    this.#schedule();
  }

  /** Runs the task as soon as the current run has ended. */
  run(): Promise<void> {
    this.#running = this.#running.then(() => this.#runOnce());
    return this.#running;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(async () => {
      await this.run();
      this.#schedule();
    }, this.#options.intervalMs).unref();
  }

  async #runOnce(): Promise<void> {
    const { run, log, failure } = this.#options;
    try {
      await run();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log.warn({ error }, failure);
      this.#isFailing = true;
    }
  }
}
