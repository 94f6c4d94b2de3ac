import type { Repositories } from "../../db/database.ts";
import type { ApiKeyRow } from "../../db/entities/api-key.ts";
import { periodAt } from "./budget-time.ts";
import { budgetPeriods, toBudgets } from "./key-limits.ts";

/** Of keys with a budget, by their ids, how much of one is spent now, in percent, where a warning of it has been given: 80 or 100. */
export async function budgetMarks(
  { limitEvents }: Repositories,
  keys: readonly ApiKeyRow[],
  now: number,
): Promise<Map<string, number>> {
  const budgeted = keys.filter((key) => Object.values(toBudgets(key)).some((budget) => budget !== null));
  const marks = new Map<string, number>();
  if (budgeted.length === 0) return marks;
  const byKey = Map.groupBy(
    await limitEvents.ofKeys(budgeted.map(({ id }) => id)),
    ({ apiKeyId }) => apiKeyId,
  );
  for (const key of budgeted) {
    const budgets = toBudgets(key);
    for (const { period, periodStartsAt, budget, percent } of byKey.get(key.id) ?? []) {
      const known = budgetPeriods.find((each) => each === period);
      // A budget that was changed since has its own warnings, and so has the next period.
      if (!known || budgets[known] !== budget) continue;
      if (periodStartsAt.getTime() !== periodAt(known, now).startsAt) continue;
      marks.set(key.id, Math.max(percent, marks.get(key.id) ?? 0));
    }
  }
  return marks;
}
