import { periodAt } from "./budget-time.ts";
import { type BudgetPeriod, budgetPeriods } from "./key-limits.ts";

/** What a key has spent in each period that is now, in nano-dollars. */
export class Ledger {
  readonly #spent: Record<BudgetPeriod, Spent>;
  readonly #each: readonly Spent[];
  /** When the first of the periods is over. */
  #endsAt: number;
  /** The share of each budget, in percent, of which a warning has been given. */
  readonly warned: Record<BudgetPeriod, number> = { day: 0, week: 0, month: 0, total: 0 };
  /** Whether it was looked at since it was last brought up to date. */
  isInUse = true;

  constructor(now: number) {
    const empty = (period: BudgetPeriod) => ({ ...periodAt(period, now), amount: 0 });
    this.#spent = { day: empty("day"), week: empty("week"), month: empty("month"), total: empty("total") };
    this.#each = Object.values(this.#spent);
    this.#endsAt = this.#firstEnd();
  }

  in(period: BudgetPeriod, now: number): Readonly<Spent> {
    if (now >= this.#endsAt) this.#renew(now);
    return this.#spent[period];
  }

  /** @param at when the request began: in that period its cost is counted, however long it took */
  add(cost: number, at: number, now: number): void {
    if (now >= this.#endsAt) this.#renew(now);
    for (const spent of this.#each) if (at >= spent.startsAt) spent.amount += cost;
  }

  /** Begins anew with what was spent on each day. */
  set(days: Iterable<[startsAt: number, cost: number]>, now: number): void {
    if (now >= this.#endsAt) this.#renew(now);
    for (const spent of this.#each) spent.amount = 0;
    for (const [startsAt, cost] of days) this.add(cost, startsAt, now);
  }

  #renew(now: number): void {
    for (const period of budgetPeriods) {
      const spent = this.#spent[period];
      if (now < spent.endsAt) continue;
      Object.assign(spent, periodAt(period, now), { amount: 0 });
      this.warned[period] = 0;
    }
    this.#endsAt = this.#firstEnd();
  }

  #firstEnd(): number {
    return Math.min(...this.#each.map(({ endsAt }) => endsAt));
  }
}

export type Spent = { startsAt: number; endsAt: number; amount: number };
