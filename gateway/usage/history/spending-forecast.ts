import type { Person } from "../../auth/person.ts";
import type { UsageHistory } from "./usage-history.ts";

/** Costs of the current and the previous month, in UTC. Only known costs count. */
export type SpendingForecast = {
  monthStartsAt: Date;
  monthEndsAt: Date;
  monthToDateUsd: number;
  unknownCosts: number;
  lastMonthUsd: number;
  /** The average since the first day with requests in the last 7 days. Covers at least one day. */
  dailyAverageUsd: number;
  averagedDays: number;
  /** The month to date plus the daily average for the rest of the month. */
  forecastUsd: number;
};

export async function forecastSpending(
  history: UsageHistory,
  person: Person,
  now: number,
): Promise<SpendingForecast> {
  const today = new Date(now);
  const monthOf = (offset: number) => Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + offset);
  const [lastMonth, month, nextMonth] = [monthOf(-1), monthOf(0), monthOf(1)];
  const read = (from: number, to: number, interval: "day" | null) =>
    history.summarize(
      person,
      { from: new Date(from), to: new Date(to) },
      { groupBy: [], interval, isWithoutTimes: true },
    );
  const [current] = await read(month, now + 1, null);
  const [last] = await read(lastMonth, month, null);
  const weekStart = now - averagedDaysMax * dayMs;
  const week = await read(weekStart, now + 1, "day");
  const firstAt = Math.max(weekStart, week[0]?.startsAt?.getTime() ?? now);
  // An average over less than a day would exaggerate the forecast.
  const averagedDays = Math.max(1, (now - firstAt) / dayMs);
  const dailyAverageUsd = week.reduce((sum, { cost }) => sum + toUsd(cost), 0) / averagedDays;
  const monthToDateUsd = toUsd(current?.cost ?? 0n);
  return {
    monthStartsAt: new Date(month),
    monthEndsAt: new Date(nextMonth),
    monthToDateUsd,
    unknownCosts: current?.unknownCosts ?? 0,
    lastMonthUsd: toUsd(last?.cost ?? 0n),
    dailyAverageUsd,
    averagedDays: Math.round(averagedDays),
    forecastUsd: monthToDateUsd + (dailyAverageUsd * (nextMonth - now)) / dayMs,
  };
}

const dayMs = 86_400_000;
const averagedDaysMax = 7;

function toUsd(nanoDollars: bigint | string): number {
  return Number(nanoDollars) / 1e9;
}
