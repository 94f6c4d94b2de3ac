import type { Repositories } from "../../../db/database.ts";
import type { ApiKeyRow } from "../../../db/entities/api-key.ts";
import type { LimitColumns } from "../../../db/entities/limits.ts";
import { periodAt } from "./ledger.ts";
import { budgetsOf, firstLimits } from "../limit-table.ts";

/**
 * Returns `budgetMark` by key ID. Omits keys without a mark.
 * @param defaults the limits of keys without limits of their own
 */
export async function budgetMarks(
  { usageRollUps }: Repositories,
  keys: readonly ApiKeyRow[],
  defaults: LimitColumns,
  now: number,
): Promise<Map<string, number>> {
  const budgeted = keys.flatMap(({ id, ...columns }) => {
    const budgets = budgetsOf(firstLimits(columns, defaults));
    return budgets ? [{ id, budgets }] : [];
  });
  const marks = new Map<string, number>();
  const costs = await usageRollUps.dailyCosts({ of: "keys", ids: budgeted.map(({ id }) => id) });
  const byKey = Map.groupBy(costs, ({ id }) => id);
  for (const { id, budgets } of budgeted) {
    const days = byKey.get(id) ?? [];
    const uses = budgets.map(({ period, amount: budget }) => {
      const { startsAt } = periodAt(period, now);
      // Costs from before the budget was set count too, as in `Budgets.check`.
      const spent = days.reduce((sum, day) => sum + (day.startsAt.getTime() >= startsAt ? day.cost : 0), 0);
      return { budget, spent };
    });
    const mark = budgetMark(uses);
    if (mark !== null) marks.set(id, mark);
  }
  return marks;
}

/** Returns 100 or 80 if at least that percentage of any budget is spent. Null otherwise. */
export function budgetMark(uses: readonly { budget: number | null; spent: number }[]): number | null {
  const isAt = (percent: number) =>
    uses.some(({ budget, spent }) => budget !== null && spent * 100 >= budget * percent);
  return [100, 80].find(isAt) ?? null;
}
