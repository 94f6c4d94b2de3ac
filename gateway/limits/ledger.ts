import { periodAt } from "./budget-time.ts";
import type { BudgetPeriod } from "./key-limits.ts";

/** What a key has spent in each period that is now, in nano-dollars. */
export class Ledger {
  readonly #spent: Record<BudgetPeriod, Spent>;
  /** The share of each budget, in percent, of which a warning has been given. */
  readonly warned: Record<BudgetPeriod, number> = { day: 0, week: 0, month: 0, total: 0 };
  /** Whether it was looked at since it was last brought up to date. */
  isInUse = true;

  constructor(now: number) {
    const empty = (period: BudgetPeriod) => ({ ...periodAt(period, now), amount: 0 });
    this.#spent = { day: empty("day"), week: empty("week"), month: empty("month"), total: empty("total") };
  }

  in(period: BudgetPeriod, now: number): Readonly<Spent> {
    const spent = this.#spent[period];
    if (now >= spent.endsAt) {
      Object.assign(spent, periodAt(period, now), { amount: 0 });
      this.warned[period] = 0;
    }
    return spent;
  }

  /** @param at when the request began: in that period its cost is counted, however long it took */
  add(cost: number, at: number, now: number): void {
    this.#add("day", cost, at, now);
    this.#add("week", cost, at, now);
    this.#add("month", cost, at, now);
    this.#add("total", cost, at, now);
  }

  /** Begins anew with what was spent on each day. */
  set(days: Iterable<[startsAt: number, cost: number]>, now: number): void {
    for (const period of ["day", "week", "month", "total"] as const) {
      this.in(period, now);
      this.#spent[period].amount = 0;
    }
    for (const [startsAt, cost] of days) this.add(cost, startsAt, now);
  }

  #add(period: BudgetPeriod, cost: number, at: number, now: number): void {
    const { startsAt } = this.in(period, now);
    if (at >= startsAt) this.#spent[period].amount += cost;
  }
}

export type Spent = { startsAt: number; endsAt: number; amount: number };
