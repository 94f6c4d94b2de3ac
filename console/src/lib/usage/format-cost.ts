import { formatDollars } from "#lib/format/numbers.ts";
import { isUnanswered, type UsageRecord } from "./read-usage-record.ts";

/** A request's cost. An unanswered request has none, and an unpriced request is not free. */
export function formatCost(record: UsageRecord): string {
  if (record.costUsd !== null) return formatDollars(Number(record.costUsd));
  return isUnanswered(record) ? "–" : "Unpriced";
}

/** A sum of costs. Zero or null is "Unpriced" with unpriced requests, because they are not free. */
export function formatCostSum(costUsd: number | null, unpriced: number): string {
  if (!costUsd && unpriced > 0) return "Unpriced";
  return costUsd === null ? "–" : formatDollars(costUsd);
}
