import { type HeldKey, holderColumns } from "../../../db/entities/api-key.ts";
import type { DailyCost } from "../../../db/repositories/usage-roll-up-repository.ts";
import type { UsageRecord } from "../../usage/recording/spool.ts";
import { heldBy, type Holder } from "../holders.ts";
import { dayMs, Ledger } from "./ledger.ts";

export type SpendingOptions = {
  now: () => number;
  readCosts: (ids: readonly string[]) => Promise<readonly DailyCost[]>;
  readUndisturbed: (read: () => Promise<void>) => Promise<void>;
  /** The costs of finished requests that are not in the database yet, by the ID of the holder. */
  unshipped: () => ReadonlyMap<string | null, readonly UnshippedCost[]>;
};

/** The spending of one kind of holder: the stored costs plus the costs of requests that are not stored yet. */
export class Spending {
  readonly #options: SpendingOptions;
  /** The least recently loaded ledger comes first, so that `refresh` reaches all idle ledgers. */
  readonly #ledgers = new Map<string, Ledger>();

  constructor(options: SpendingOptions) {
    this.#options = options;
  }

  get ledgers(): ReadonlyMap<string, Ledger> {
    return this.#ledgers;
  }

  ledgerOf(id: string): Ledger | undefined {
    return this.#ledgers.get(id);
  }

  async load(ids: readonly string[]): Promise<void> {
    const { now, readCosts, readUndisturbed, unshipped } = this.#options;
    await readUndisturbed(async () => {
      const stored = Map.groupBy(await readCosts(ids), ({ id }) => id);
      const costs = unshipped();
      for (const id of ids) {
        const ledger = this.#ledgers.get(id) ?? new Ledger(now());
        this.#ledgers.delete(id);
        this.#ledgers.set(id, ledger);
        this.#fill(ledger, stored.get(id) ?? [], costs.get(id) ?? []);
      }
    });
  }

  /** Reads a holder's spending for the console. The ledger is not kept, so `refresh` ignores it. */
  async look(id: string): Promise<Ledger> {
    const { now, readCosts, readUndisturbed, unshipped } = this.#options;
    const ledger = new Ledger(now());
    await readUndisturbed(async () => {
      const stored = await readCosts([id]);
      this.#fill(ledger, stored, unshipped().get(id) ?? []);
    });
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

  #fill(ledger: Ledger, stored: readonly DailyCost[], unshipped: readonly UnshippedCost[]): void {
    const days = stored.map(({ startsAt, cost }): [number, number] => [startsAt.getTime(), cost]);
    ledger.set(
      [...days, ...unshipped.map(({ day, cost }): [number, number] => [day, cost])],
      this.#options.now(),
    );
  }
}

export const idsPerQuery = 200;
/** Idle ledgers cause at most one more query, because ledgers in use must not wait for them. */
const restingPerRefreshMax = idsPerQuery;

/** The costs of a key's requests that began on the same day, with the same holders. `day` is its start. */
type UnshippedCost = { key: HeldKey; day: number; cost: number };

/** Costs of finished requests that are not in the database yet. They are kept by key, and summed by holder when read. */
export class UnshippedCosts {
  readonly #byKey = new Map<string, UnshippedCost[]>();

  add(record: UsageRecord): void {
    this.#change(record, countedCost(record));
  }

  /** Runs when the record is in the database. */
  shipped(record: UsageRecord): void {
    this.#change(record, -countedCost(record));
  }

  by(idOf: Holder["idOf"]): Map<string | null, UnshippedCost[]> {
    return Map.groupBy([...this.#byKey.values()].flat(), ({ key }) => idOf(key));
  }

  #change(record: UsageRecord, by: number): void {
    if (by === 0) return;
    const { apiKeyId: id, createdAt } = record;
    const day = Math.floor(createdAt.getTime() / dayMs) * dayMs;
    const costs = this.#byKey.get(id) ?? [];
    // The owner of a key can change.
    let known = costs.find(
      (each) => each.day === day && columns.every((name) => each.key[name] === record[name]),
    );
    if (!known) {
      // Records of earlier processes were never added.
      if (by < 0) return;
      this.#byKey.set(id, costs);
      costs.push((known = { key: heldBy({ ...record, id }), day, cost: 0 }));
    }
    known.cost += by;
    if (known.cost > 0) return;
    costs.splice(costs.indexOf(known), 1);
    if (costs.length === 0) this.#byKey.delete(id);
  }
}

const columns = Object.values(holderColumns);

/** Counts the minimum cost of an unpriced request. */
export function countedCost({ cost, costDetails }: UsageRecord): number {
  return cost ?? costDetails?.least ?? 0;
}
