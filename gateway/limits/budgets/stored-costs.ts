import type { Database } from "../../../db/database.ts";
import type { DailyCostsOf } from "../../../db/repositories/daily-costs-query.ts";
import type { DailyCost } from "../../../db/repositories/usage-roll-up-repository.ts";
import type { Holder, LimitsInForce } from "../holders.ts";
import { periodAt } from "./ledger.ts";

type StoredCostsOptions = {
  holder: Holder;
  inForce: LimitsInForce;
  database: Database;
  now: () => number;
  monotonicNow: () => number;
};

/** Reads the stored costs that budgets of one kind of holder need. */
export class StoredCosts {
  readonly #options: StoredCostsOptions;
  readonly #earlier = new Map<string, { before: number; readAt: number; cost: number }>();

  constructor(options: StoredCostsOptions) {
    this.#options = options;
  }

  async read(ids: readonly string[]): Promise<readonly DailyCost[]> {
    const { holder, inForce, now } = this.#options;
    if (holder.costs.countAll) return this.#ask(ids);
    const [month, week] = [periodAt("month", now()), periodAt("week", now())];
    const from = Math.min(month.startsAt, week.startsAt);
    const recent = await this.#ask(ids, { from: new Date(from) });
    const budgetsOf = (id: string) => inForce.enforced(holder, id).budgets ?? [];
    const lifetime = ids.filter((id) => budgetsOf(id).some(({ period }) => period === "total"));
    return lifetime.length === 0 ? recent : [...recent, ...(await this.#readEarlier(lifetime, from))];
  }

  /** Each refresh would otherwise sum the whole history. Records that arrive late are the only change to earlier costs. */
  async #readEarlier(ids: readonly string[], before: number): Promise<DailyCost[]> {
    const at = this.#options.monotonicNow();
    const isKnown = (id: string) => {
      const known = this.#earlier.get(id);
      return known?.before === before && at - known.readAt < keptMs;
    };
    const unknown = ids.filter((id) => !isKnown(id));
    if (unknown.length > 0) {
      const costs = Map.groupBy(await this.#ask(unknown, { before: new Date(before) }), ({ id }) => id);
      for (const id of unknown) {
        const cost = (costs.get(id) ?? []).reduce((sum, each) => sum + each.cost, 0);
        this.#earlier.set(id, { before, readAt: at, cost });
      }
    }
    return ids.map((id) => ({ id, startsAt: new Date(0), cost: this.#earlier.get(id)?.cost ?? 0 }));
  }

  async #ask(ids: readonly string[], when: Pick<DailyCostsOf, "from" | "before"> = {}): Promise<DailyCost[]> {
    const { holder, database } = this.#options;
    const { of, id: rollUpId } = holder.costs;
    const asked = { of, ids: rollUpId === undefined ? ids : [rollUpId], ...when };
    const found = await database.read(({ usageRollUps }) => usageRollUps.dailyCosts(asked));
    return rollUpId === undefined ? found : found.map((cost) => ({ ...cost, id: ids[0] ?? "" }));
  }
}

const keptMs = 10 * 60_000;
