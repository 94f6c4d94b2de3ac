import type { BudgetPeriod } from "../key-limits.ts";

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
