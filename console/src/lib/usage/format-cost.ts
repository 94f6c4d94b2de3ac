import { formatDollars } from "#lib/format/numbers.ts";

/** Zero or null becomes "Unpriced" if some requests are unpriced, because they may not be free. */
export function formatCostSum(costUsd: number | null, unpriced: number): string {
  if (!costUsd && unpriced > 0) return "Unpriced";
  return costUsd === null ? "–" : formatDollars(costUsd);
}
