import type { Database } from "../../../db/database.ts";
import { firstIdAt } from "../../ids.ts";
import type { Runtime } from "../../runtime.ts";

type RetentionOptions = {
  database: Database;
  runtime: Runtime;
  /** 0 keeps records forever. */
  retentionDays: number;
};

/** Deletes expired records and provider health, but no roll-ups. MySQL drops whole months, so some stay longer. */
export class Retention {
  readonly #options: RetentionOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: RetentionOptions) {
    this.#options = options;
    this.#schedule(firstRunMs);
  }

  /** Deletes expired records, and creates missing partitions on MySQL. Throws database errors. */
  async run(): Promise<void> {
    const { database, runtime, retentionDays } = this.#options;
    const now = runtime.now();
    await database.write(({ providerHalfHours }) =>
      providerHalfHours.deleteBefore(new Date(now - healthDays * dayMs)),
    );
    const beforeId = retentionDays === 0 ? null : firstIdAt("req", now - retentionDays * dayMs);
    if (database.isSqlite) {
      if (beforeId !== null) await this.#deleteBefore(beforeId);
      return;
    }
    const dropped = await database.keepUsagePartitions({ months: monthsFrom(now), dropBeforeId: beforeId });
    if (dropped.length > 0) runtime.log.info({ months: dropped }, "deleted old usage records");
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(delayMs: number): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#running = this.run()
        .catch((error: unknown) => {
          this.#options.runtime.log.warn({ error }, "cannot delete old usage records: will retry in an hour");
        })
        .then(() => this.#schedule(intervalMs));
    }, delayMs).unref();
  }

  async #deleteBefore(beforeId: string): Promise<void> {
    const { database, runtime } = this.#options;
    let total = 0;
    // Other writers run between the batches.
    for (let deleted = recordsPerTurn; deleted === recordsPerTurn && !this.#isClosed; total += deleted) {
      deleted = await database.write(({ usageRecords }) =>
        usageRecords.deleteBefore(beforeId, recordsPerTurn),
      );
    }
    if (total > 0) runtime.log.info({ records: total }, "deleted old usage records");
  }
}

const dayMs = 86_400_000;
const intervalMs = 60 * 60_000;
/** Cleanup starts late so that it does not compete with the gateway's startup. */
const firstRunMs = 60_000;
const recordsPerTurn = 500;
const healthDays = 31;
const monthsAhead = 3;

/** The month of `now` and the following months, each with the first ID after its end. */
function monthsFrom(now: number): { name: string; beforeId: string }[] {
  const date = new Date(now);
  return Array.from({ length: 1 + monthsAhead }, (_, ahead) => {
    const start = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + ahead));
    const end = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + ahead + 1);
    return { name: `m${start.toISOString().slice(0, 7).replace("-", "_")}`, beforeId: firstIdAt("req", end) };
  });
}
