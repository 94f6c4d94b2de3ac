import { formatDollars } from "#lib/format/numbers.ts";
import { isUnanswered, type UsageRecord } from "./read-usage-record.ts";

export function formatCost(record: UsageRecord): string {
  if (record.costUsd !== null) return formatDollars(Number(record.costUsd));
  return isUnanswered(record) ? "–" : "Unpriced";
}

/** Zero or null becomes "Unpriced" if some requests are unpriced, because they may not be free. */
export function formatCostSum(costUsd: number | null, unpriced: number): string {
  if (!costUsd && unpriced > 0) return "Unpriced";
  return costUsd === null ? "–" : formatDollars(costUsd);
}
