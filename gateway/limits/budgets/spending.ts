import type { DailyCost } from "../../../db/repositories/usage-roll-up-repository.ts";
import type { UsageRecord } from "../../usage/recording/spool.ts";
import { dayMs, Ledger } from "./ledger.ts";

type SpendingOptions = {
  now: () => number;
  readCosts: (ids: readonly string[]) => Promise<readonly DailyCost[]>;
  readUndisturbed: (read: () => Promise<void>) => Promise<void>;
};

/**
 * The spending of one kind of holder: the stored costs plus the costs of requests that are not stored yet.
 */
export class Spending {
  readonly #options: SpendingOptions;
  /** The least recently loaded ledger comes first, so that `refresh` reaches all idle ledgers. */
  readonly #ledgers = new Map<string, Ledger>();
  readonly #unshipped = new UnshippedCosts();

  constructor(options: SpendingOptions) {
    this.#options = options;
  }

  get ledgers(): ReadonlyMap<string, Ledger> {
    return this.#ledgers;
  }

  ledgerOf(id: string): Ledger | undefined {
    return this.#ledgers.get(id);
  }

  add(id: string, record: UsageRecord): void {
    this.#unshipped.add(id, record);
    const cost = countedCost(record);
    if (cost > 0) this.#ledgers.get(id)?.add(cost, record.createdAt.getTime(), this.#options.now());
  }

  /** Runs when the record is in the database. */
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

  /** Reads a holder's spending for the console. The ledger is not kept, so `refresh` ignores it. */
  async look(id: string): Promise<Ledger> {
    const { now, readCosts, readUndisturbed } = this.#options;
    const ledger = new Ledger(now());
    await readUndisturbed(async () => this.#fill(id, ledger, await readCosts([id])));
    return ledger;
  }

  async loadMissing(id: string): Promise<void> {
    if (!this.#ledgers.has(id)) await this.load([id]);
  }

  /** Reloads the ledgers in use on each call, and idle ledgers less and less often. */
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

export const idsPerQuery = 200;
/** Idle ledgers cause at most one more query, because ledgers in use must not wait for them. */
const restingPerRefreshMax = idsPerQuery;

/** Costs of finished requests that are not in the database yet, by holder and day. */
class UnshippedCosts {
  readonly #costs = new Map<string, Map<number, number>>();

  add(id: string, record: UsageRecord): void {
    const cost = countedCost(record);
    if (cost === 0) return;
    let days = this.#costs.get(id);
    if (!days) this.#costs.set(id, (days = new Map()));
    const day = startOfDay(record.createdAt);
    days.set(day, (days.get(day) ?? 0) + cost);
  }

  shipped(id: string, record: UsageRecord): void {
    const days = this.#costs.get(id);
    if (!days) return;
    const day = startOfDay(record.createdAt);
    const left = (days.get(day) ?? 0) - countedCost(record);
    if (left > 0) days.set(day, left);
    else days.delete(day);
    if (days.size === 0) this.#costs.delete(id);
  }

  /** The cost of each day, with the day's start in milliseconds since 1970. */
  of(id: string): Iterable<[startsAt: number, cost: number]> {
    return this.#costs.get(id) ?? [];
  }
}

/** Counts the minimum cost of an unpriced request. */
function countedCost({ cost, costDetails }: UsageRecord): number {
  return cost ?? costDetails?.least ?? 0;
}

function startOfDay(moment: Date): number {
  return Math.floor(moment.getTime() / dayMs) * dayMs;
}
