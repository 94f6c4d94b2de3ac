import { type Budget, type BudgetPeriod, budgetPeriods } from "../key-limits.ts";

/** What a key, a person or the whole gateway has spent in each period that is now, in nano-dollars. */
export class Ledger {
  readonly #spent: Record<BudgetPeriod, Spent>;
  readonly #each: readonly Spent[];
  /** When the first of the periods is over. */
  #endsAt: number;
  /** The share of each budget, in percent, of which a warning has been given. */
  readonly #warned: Record<BudgetPeriod, number> = { day: 0, week: 0, month: 0, total: 0 };
  /** Whether it was looked at since it was last brought up to date. */
  isInUse = true;
  /** When it was last brought up to date because it had been looked at. */
  usedAt: number;
  /** When it was last brought up to date. */
  #setAt: number;

  constructor(now: number) {
    this.usedAt = now;
    this.#setAt = now;
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
    this.#setAt = now;
    for (const spent of this.#each) spent.amount = 0;
    for (const [startsAt, cost] of days) this.add(cost, startsAt, now);
  }

  /** Whether it should be brought up to date although nobody looks at it: ever more seldom, the longer that is. */
  isDue(now: number): boolean {
    return now - this.#setAt >= Math.min((now - this.usedAt) * restShare, unsetMsMax);
  }

  /** What a warning has to be given of; null when it has been given, and while little is spent. */
  takeWarning({ period, amount: budget }: Budget, now: number): SpentPart | null {
    const { amount: spent, startsAt: periodStartsAt } = this.in(period, now);
    // Nothing can be spent of a budget of nothing.
    if (spent * 100 < budget * firstWarningPercent || budget === 0) return null;
    const percent = spent >= budget ? 100 : firstWarningPercent;
    if (percent <= this.#warned[period]) return null;
    this.#warned[period] = percent;
    return { period, percent, budget, spent, periodStartsAt };
  }

  /** Budgets may be others from now on. */
  forgetWarnings(): void {
    for (const period of budgetPeriods) this.#warned[period] = 0;
  }

  #renew(now: number): void {
    for (const period of budgetPeriods) {
      const spent = this.#spent[period];
      if (now < spent.endsAt) continue;
      Object.assign(spent, periodAt(period, now), { amount: 0 });
      this.#warned[period] = 0;
    }
    this.#endsAt = this.#firstEnd();
  }

  #firstEnd(): number {
    return Math.min(...this.#each.map(({ endsAt }) => endsAt));
  }
}

/** So much of a budget is spent that it is worth a warning. Amounts are nano-dollars. */
export type SpentPart = {
  period: BudgetPeriod;
  percent: number;
  budget: number;
  spent: number;
  periodStartsAt: number;
};

/** What others spent is known after this part of the time in which nobody looked at it, … */
const restShare = 0.1;
/** … and after this at most. */
const unsetMsMax = 60_000;

/** The other warning is given at 100. */
const firstWarningPercent = 80;

export type Spent = { startsAt: number; endsAt: number; amount: number };

/** The period of a budget that a moment is in, in UTC: from `startsAt` on and before `endsAt`, in milliseconds since 1970. */
export function periodAt(period: BudgetPeriod, now: number): { startsAt: number; endsAt: number } {
  const day = Math.floor(now / dayMs);
  if (period === "total") return { startsAt: 0, endsAt: Number.POSITIVE_INFINITY };
  if (period === "day") return { startsAt: day * dayMs, endsAt: (day + 1) * dayMs };
  if (period === "week") {
    // 1 January 1970 was a Thursday, three days after a Monday.
    const monday = Math.floor((day + 3) / 7) * 7 - 3;
    return { startsAt: monday * dayMs, endsAt: (monday + 7) * dayMs };
  }
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { startsAt: Date.UTC(year, month, 1), endsAt: Date.UTC(year, month + 1, 1) };
}

export const dayMs = 86_400_000;
