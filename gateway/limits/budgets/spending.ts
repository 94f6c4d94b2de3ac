import type { DailyCost } from "../../../db/repositories/usage-roll-up-repository.ts";
import type { UsageRecord } from "../../usage/recording/segment.ts";
import { dayMs, Ledger } from "./ledger.ts";

type SpendingOptions = {
  now: () => number;
  /** What the database says that each of them has cost, on the days that matter. */
  readCosts: (ids: readonly string[]) => Promise<readonly DailyCost[]>;
  /** Runs `read` while nothing of this process's is on its way to the database. */
  readUndisturbed: (read: () => Promise<void>) => Promise<void>;
};

/**
 * What has been spent by some of a kind, be it keys, people, or the whole gateway: as the usage history counts it, read from
 * its sums at first, and from then on counted here as requests end. What other processes spend is read back from time to time.
 */
export class Spending {
  readonly #options: SpendingOptions;
  /** Those that were read longest ago come first. */
  readonly #ledgers = new Map<string, Ledger>();
  readonly #unshipped = new UnshippedCosts();

  constructor(options: SpendingOptions) {
    this.#options = options;
  }

  /** All that have been loaded, by their ids. */
  get ledgers(): ReadonlyMap<string, Ledger> {
    return this.#ledgers;
  }

  /** Undefined for whoever has not been loaded. */
  ledgerOf(id: string): Ledger | undefined {
    return this.#ledgers.get(id);
  }

  /** A request is over, and this is what it cost. Called before its record is written. */
  add(id: string, record: UsageRecord): void {
    this.#unshipped.add(id, record);
    if (record.cost === null) return;
    this.#ledgers.get(id)?.add(record.cost, record.createdAt.getTime(), this.#options.now());
  }

  /** The record has come to the database. */
  shipped(id: string, record: UsageRecord): void {
    this.#unshipped.shipped(id, record);
  }

  async load(ids: readonly string[]): Promise<void> {
    const { now, readCosts, readUndisturbed } = this.#options;
    await readUndisturbed(async () => {
      const costs = Map.groupBy(await readCosts(ids), ({ id }) => id);
      for (const id of ids) {
        const ledger = this.#ledgers.get(id) ?? new Ledger(now());
        this.#ledgers.delete(id);
        this.#ledgers.set(id, ledger);
        this.#fill(id, ledger, costs.get(id) ?? []);
      }
    });
  }

  /** What somebody has spent, for people to look at: whoever is not in use here stays so. */
  async look(id: string): Promise<Ledger> {
    const { now, readCosts, readUndisturbed } = this.#options;
    const ledger = new Ledger(now());
    await readUndisturbed(async () => this.#fill(id, ledger, await readCosts([id])));
    return ledger;
  }

  /** What is loaded stays up to date by itself. */
  async loadMissing(id: string): Promise<void> {
    if (!this.#ledgers.has(id)) await this.load([id]);
  }

  /**
   * Brings in what other processes have counted: for those that are in use here, and ever more seldom for those that rest, so
   * that their next requests, which do not wait for the database, find what is true or was a moment ago.
   */
  async refresh(): Promise<void> {
    const now = this.#options.now();
    const ids: string[] = [];
    const resting: string[] = [];
    for (const [id, ledger] of this.#ledgers) {
      if (ledger.isInUse) {
        ledger.isInUse = false;
        ledger.usedAt = now;
        ids.push(id);
      } else if (resting.length < restingPerRefreshMax && ledger.isDue(now)) resting.push(id);
    }
    ids.push(...resting);
    for (let from = 0; from < ids.length; from += idsPerQuery) {
      await this.load(ids.slice(from, from + idsPerQuery));
    }
  }

  /** Without an id, all. */
  forget(id?: string): void {
    if (id === undefined) this.#ledgers.clear();
    else this.#ledgers.delete(id);
  }

  #fill(id: string, ledger: Ledger, costs: readonly DailyCost[]): void {
    const shipped = costs.map(({ startsAt, cost }): [startsAt: number, cost: number] => [
      startsAt.getTime(),
      cost,
    ]);
    ledger.set([...shipped, ...this.#unshipped.of(id)], this.#options.now());
  }
}

const idsPerQuery = 200;
/** One query more, however many rest; those in use must not wait for them. */
const restingPerRefreshMax = idsPerQuery;

/**
 * What requests that are over have cost but is not in the database yet, by holder and day: what was read there plus this
 * is what was spent. It is no larger than the spool.
 */
class UnshippedCosts {
  readonly #costs = new Map<string, Map<number, number>>();

  add(id: string, { createdAt, cost }: UsageRecord): void {
    if (cost === null || cost === 0) return;
    let days = this.#costs.get(id);
    if (!days) this.#costs.set(id, (days = new Map()));
    const day = startOfDay(createdAt);
    days.set(day, (days.get(day) ?? 0) + cost);
  }

  /** The record is in the database. */
  shipped(id: string, { createdAt, cost }: UsageRecord): void {
    const days = this.#costs.get(id);
    if (!days || cost === null) return;
    const day = startOfDay(createdAt);
    const left = (days.get(day) ?? 0) - cost;
    if (left > 0) days.set(day, left);
    else days.delete(day);
    if (days.size === 0) this.#costs.delete(id);
  }

  /** The cost of each day, by the day's first moment. */
  of(id: string): Iterable<[startsAt: number, cost: number]> {
    return this.#costs.get(id) ?? [];
  }
}

function startOfDay(moment: Date): number {
  return Math.floor(moment.getTime() / dayMs) * dayMs;
}
