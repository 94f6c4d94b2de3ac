import type { DailyCost } from "../../../db/repositories/usage-roll-up-repository.ts";
import type { UsageRecord } from "../../usage/recording/spool.ts";
import { dayMs, Ledger } from "./ledger.ts";

type SpendingOptions = {
  now: () => number;
  /** Reads the stored costs by day. */
  readCosts: (ids: readonly string[]) => Promise<readonly DailyCost[]>;
  readUndisturbed: (read: () => Promise<void>) => Promise<void>;
};

/**
 * The spending of one kind of holder: keys, users or the gateway. It adds this process's finished requests to
 * the stored sums.
 */
export class Spending {
  readonly #options: SpendingOptions;
  /** The ledgers, the least recently loaded first. */
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

  /** Adds the cost of a finished request, before its record is written. */
  add(id: string, record: UsageRecord): void {
    this.#unshipped.add(id, record);
    const cost = countedCost(record);
    if (cost > 0) this.#ledgers.get(id)?.add(cost, record.createdAt.getTime(), this.#options.now());
  }

  /** Removes a record's cost from the unshipped costs, once the database contains the record. */
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

  /** Reads a holder's spending for the console, without marking the ledger as in use. */
  async look(id: string): Promise<Ledger> {
    const { now, readCosts, readUndisturbed } = this.#options;
    const ledger = new Ledger(now());
    await readUndisturbed(async () => this.#fill(id, ledger, await readCosts([id])));
    return ledger;
  }

  /** Loads a missing ledger. `refresh` keeps loaded ones current. */
  async loadMissing(id: string): Promise<void> {
    if (!this.#ledgers.has(id)) await this.load([id]);
  }

  /**
   * Reads the costs of other processes: each time for ledgers in use, less and less often for idle ones.
   * Requests do not wait for it.
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
/** Idle ledgers cause at most one more query, because ledgers in use must not wait for them. */
const restingPerRefreshMax = idsPerQuery;

/**
 * Costs of finished requests that are not in the database yet, by holder and day. The spool's maximum size
 * bounds their number.
 */
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

/** An unpriced request counts its minimum cost, so that an unpriced part does not hide the others. */
function countedCost({ cost, costDetails }: UsageRecord): number {
  return cost ?? costDetails?.least ?? 0;
}

function startOfDay(moment: Date): number {
  return Math.floor(moment.getTime() / dayMs) * dayMs;
}
