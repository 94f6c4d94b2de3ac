import type { UsageSum } from "../../../db/repositories/usage-sum.ts";
import type { Person } from "../../auth/person.ts";
import { addSums } from "./usage-summary.ts";
import type { UsageHistory } from "./usage-history.ts";
import { firstTokenBoundsMs, latencyBoundsMs } from "../../../db/entities/usage-roll-up.ts";

/** Latencies cover successful requests only. */
type Activity = {
  requests: number;
  /** Failed and interrupted requests. */
  errors: number;
  successes: number;
  /** The sum of known costs, in US dollars. 0 without requests, null if every cost is unknown. */
  costUsd: number | null;
  unknownCosts: number;
  averageLatencyMs: number | null;
  p95LatencyMs: number | null;
};

type UsageOverview = {
  from: Date;
  to: Date;
  /** Hours or days, oldest first. The last one is incomplete. */
  intervals: (Activity & { startsAt: Date })[];
  total: Activity;
  /** The same length of time, one period earlier. */
  before: Activity;
};

/** Each period ends with the current hour or day. */
export const overviewPeriods = {
  "24h": { interval: "hour", count: 24 },
  "7d": { interval: "day", count: 7 },
  "30d": { interval: "day", count: 30 },
} as const;

export type OverviewPeriod = keyof typeof overviewPeriods;

export async function readOverview(
  history: UsageHistory,
  person: Person,
  { period, now }: { period: OverviewPeriod; now: number },
): Promise<UsageOverview> {
  const { interval, count } = overviewPeriods[period];
  const lengthMs = interval === "hour" ? hourMs : dayMs;
  const from = startOf(period, now);
  const read = (start: number, end: number, by: typeof interval | null) =>
    history.summarize(
      person,
      { from: new Date(start), to: new Date(end) },
      { groupBy: ["status"], interval: by },
    );
  const sums = await read(from, now + 1, interval);
  const byStart = Map.groupBy(sums, ({ startsAt }) => startsAt?.getTime());
  const starts = Array.from({ length: count }, (_, index) => from + index * lengthMs);
  return {
    from: new Date(from),
    to: new Date(now),
    intervals: starts.map((start) => ({
      startsAt: new Date(start),
      ...toActivity(byStart.get(start) ?? []),
    })),
    total: toActivity(sums),
    before: toActivity(await read(from - count * lengthMs, now + 1 - count * lengthMs, null)),
  };
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const nanoPerDollar = 1e9;

/** The start of the period's first hour or day, in UTC. */
export function startOf(period: OverviewPeriod, now: number): number {
  const { interval, count } = overviewPeriods[period];
  const lengthMs = interval === "hour" ? hourMs : dayMs;
  return (Math.floor(now / lengthMs) - (count - 1)) * lengthMs;
}

function toActivity(sums: UsageSum[]): Activity {
  const all = total(sums);
  const failed = total(sums.filter(({ status }) => status === "FAILED" || status === "INTERRUPTED"));
  const succeeded = total(sums.filter(({ status }) => status === "SUCCEEDED"));
  const { requests = 0, unknownCosts = 0 } = all ?? {};
  return {
    requests,
    errors: failed?.requests ?? 0,
    successes: succeeded?.requests ?? 0,
    costUsd: requests > 0 && requests === unknownCosts ? null : Number(all?.cost ?? 0n) / nanoPerDollar,
    unknownCosts,
    averageLatencyMs: succeeded ? averageLatencyMs(succeeded) : null,
    p95LatencyMs: succeeded ? percentileMs(succeeded.latencies, 0.95) : null,
  };
}

function total(sums: UsageSum[]): UsageSum | undefined {
  return sums.length === 0 ? undefined : sums.reduce(addSums);
}

/** Null without requests. */
export function averageLatencyMs({
  latencyMs,
  requests,
}: Pick<UsageSum, "latencyMs" | "requests">): number | null {
  return requests > 0 ? Math.round(Number(latencyMs) / requests) : null;
}

/**
 * Returns the latency that `share` of the requests do not exceed, interpolated within its bucket. Null for too
 * few requests. Latencies in the open last bucket count as its lower bound.
 */
export function percentileMs(
  counts: readonly number[],
  share: number,
  bounds: readonly number[] = latencyBoundsMs,
): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  // At least one request must exceed the percentile. 0.999 instead of 1 allows for rounding errors.
  if (total * (1 - share) < 0.999) return null;
  let left = total * share;
  for (const [index, upTo] of bounds.entries()) {
    const count = counts[index] ?? 0;
    const above = bounds[index - 1] ?? 0;
    if (count >= left) return Math.round(above + ((upTo - above) * left) / count);
    left -= count;
  }
  return bounds.at(-1) ?? null;
}

export function firstTokenPercentileMs({ firstTokens }: Pick<UsageSum, "firstTokens">, share: number) {
  return percentileMs(firstTokens, share, firstTokenBoundsMs);
}
