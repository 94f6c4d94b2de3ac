import type { Repositories } from "../../../db/database.ts";
import type { ApiKeyRow } from "../../../db/entities/api-key.ts";
import { periodAt } from "./ledger.ts";
import { budgetPeriods, toBudgets } from "../key-limits.ts";

/** Returns `budgetMark` by key ID. Omits keys without a mark. */
export async function budgetMarks(
  { usageRollUps }: Repositories,
  keys: readonly ApiKeyRow[],
  now: number,
): Promise<Map<string, number>> {
  const budgeted = keys.filter((key) => Object.values(toBudgets(key)).some((budget) => budget !== null));
  const marks = new Map<string, number>();
  const costs = await usageRollUps.dailyCosts({ of: "keys", ids: budgeted.map(({ id }) => id) });
  const byKey = Map.groupBy(costs, ({ id }) => id);
  for (const key of budgeted) {
    const budgets = toBudgets(key);
    const days = byKey.get(key.id) ?? [];
    const uses = budgetPeriods.map((period) => {
      const { startsAt } = periodAt(period, now);
      // Costs from before the budget was set count too, as in `Budgets.check`.
      const spent = days.reduce((sum, day) => sum + (day.startsAt.getTime() >= startsAt ? day.cost : 0), 0);
      return { budget: budgets[period], spent };
    });
    const mark = budgetMark(uses);
    if (mark !== null) marks.set(key.id, mark);
  }
  return marks;
}

/** Returns 100 or 80 if at least that percentage of any budget is spent. Null otherwise. */
export function budgetMark(uses: readonly { budget: number | null; spent: number }[]): number | null {
  const isAt = (percent: number) =>
    uses.some(({ budget, spent }) => budget !== null && spent * 100 >= budget * percent);
  return [100, 80].find(isAt) ?? null;
}
