import { type BudgetPeriod, budgetPeriods } from "../../../db/entities/limits.ts";
import { type Budget, byName } from "../limit-table.ts";

/** The spending of a key, a user or the gateway in each current period, in nano-dollars. */
export class Ledger {
  readonly #spent: Record<BudgetPeriod, Spent>;
  readonly #each: readonly Spent[];
  /** The periods before the last renewal. They return when a wrong clock is set back. */
  readonly #before: Partial<Record<BudgetPeriod, Spent>> = {};
  /** The latest start and the earliest end of the periods. */
  #startsAt = 0;
  #endsAt = 0;
  /** The percentage of the last warning in each current period. 0 before the first warning. */
  readonly #warned: Record<BudgetPeriod, number> = byName(budgetPeriods, () => 0);
  /** Whether requests use the ledger, so that the next refresh must reload it. */
  isInUse = true;
  /** The time of the last refresh that found the ledger in use. */
  usedAt: number;
  #setAt: number;

  constructor(now: number) {
    this.usedAt = now;
    this.#setAt = now;
    this.#spent = byName(budgetPeriods, (period) => ({ ...periodAt(period, now), amount: 0 }));
    this.#each = Object.values(this.#spent);
    this.#setBounds();
  }

  in(period: BudgetPeriod, now: number): Readonly<Spent> {
    if (now >= this.#endsAt || now < this.#startsAt) this.#renew(now);
    return this.#spent[period];
  }

  /** @param at selects the periods that include the cost */
  add(cost: number, at: number, now: number): void {
    if (now >= this.#endsAt || now < this.#startsAt) this.#renew(now);
    for (const spent of this.#each) if (at >= spent.startsAt && at < spent.endsAt) spent.amount += cost;
  }

  /** Replaces all costs with daily costs. `startsAt` is in milliseconds since 1970. */
  set(days: Iterable<[startsAt: number, cost: number]>, now: number): void {
    if (now >= this.#endsAt || now < this.#startsAt) this.#renew(now);
    this.#setAt = now;
    for (const spent of this.#each) spent.amount = 0;
    for (const [startsAt, cost] of days) this.add(cost, startsAt, now);
  }

  /** Whether an idle ledger is due for a refresh. The interval grows with the idle time. */
  isDue(now: number): boolean {
    // The clock was set back.
    if (now < this.#setAt) return true;
    return now - this.#setAt >= Math.min((now - this.usedAt) * restShare, unsetMsMax);
  }

  /**
   * Returns each due warning once per period: at 80 % and at 100 %. Null if no warning is due, and for a
   * budget of 0.
   */
  takeWarning({ period, amount: budget }: Budget, now: number): SpentPart | null {
    const { amount: spent, startsAt: periodStartsAt } = this.in(period, now);
    if (spent * 100 < budget * firstWarningPercent || budget === 0) return null;
    const percent = spent >= budget ? 100 : firstWarningPercent;
    if (percent <= this.#warned[period]) return null;
    this.#warned[period] = percent;
    return { period, percent, budget, spent, periodStartsAt };
  }

  forgetWarnings(): void {
    for (const period of budgetPeriods) this.#warned[period] = 0;
  }

  #renew(now: number): void {
    for (const period of budgetPeriods) {
      const spent = this.#spent[period];
      if (now >= spent.startsAt && now < spent.endsAt) continue;
      const current = periodAt(period, now);
      const before = this.#before[period];
      this.#before[period] = { ...spent };
      const amount = before?.startsAt === current.startsAt ? before.amount : 0;
      Object.assign(spent, current, { amount });
      this.#warned[period] = 0;
    }
    this.#setBounds();
  }

  #setBounds(): void {
    this.#startsAt = Math.max(...this.#each.map(({ startsAt }) => startsAt));
    this.#endsAt = Math.min(...this.#each.map(({ endsAt }) => endsAt));
  }
}

/** A spent part of a budget that requires a warning. Amounts are in nano-dollars. */
export type SpentPart = {
  period: BudgetPeriod;
  percent: number;
  budget: number;
  spent: number;
  periodStartsAt: number;
};

/** The time between refreshes of an idle ledger, as a share of its idle time. */
const restShare = 0.1;
/** The maximum time until an idle ledger is due for another refresh. */
const unsetMsMax = 60_000;

const firstWarningPercent = 80;

export type Spent = { startsAt: number; endsAt: number; amount: number };

/** The UTC period that contains `now`, in milliseconds since 1970. `endsAt` is exclusive. */
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
