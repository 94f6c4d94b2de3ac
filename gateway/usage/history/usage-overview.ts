import type { UsageSum } from "../../../db/repositories/usage-sum.ts";
import { can } from "../../auth/permissions.ts";
import type { Person } from "../../auth/person.ts";
import { addSums, type UsageSummary } from "./usage-summary.ts";
import type { UsageHistory } from "./usage-history.ts";
import { firstTokenBoundsMs, latencyBoundsMs } from "../../../db/entities/usage-roll-up.ts";
import { inTurns } from "../../next-turn.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Each period ends with the current hour or day. */
export const overviewPeriods = {
  "24h": { interval: "hour", lengthMs: hourMs, count: 24 },
  "7d": { interval: "day", lengthMs: dayMs, count: 7 },
  "30d": { interval: "day", lengthMs: dayMs, count: 30 },
} as const;

type PeriodOptions = { period: keyof typeof overviewPeriods; now: number };

export async function readOverview(history: UsageHistory, person: Person, options: PeriodOptions) {
  const { period, now } = options;
  const { interval, lengthMs, count } = overviewPeriods[period];
  const from = startOf(options);
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
    /** Hours or days, oldest first. The last one is incomplete. */
    intervals: starts.map((start) => ({
      startsAt: new Date(start),
      ...toActivity(byStart.get(start) ?? []),
    })),
    total: toActivity(sums),
    /** The same length of time, one period earlier. */
    before: toActivity(await read(from - count * lengthMs, now + 1 - count * lengthMs, null)),
  };
}

/** The start of the period's first hour or day, in UTC. */
function startOf({ period, now }: PeriodOptions): number {
  const { lengthMs, count } = overviewPeriods[period];
  return (Math.floor(now / lengthMs) - (count - 1)) * lengthMs;
}

/** Latencies cover successful requests only. */
function toActivity(sums: UsageSum[]) {
  const all = total(sums);
  const failed = total(sums.filter(({ status }) => status === "FAILED" || status === "INTERRUPTED"));
  const succeeded = total(sums.filter(({ status }) => status === "SUCCEEDED"));
  const { requests = 0, unknownCosts = 0 } = all ?? {};
  return {
    requests,
    errors: failed?.requests ?? 0,
    successes: succeeded?.requests ?? 0,
    /** Null if every cost is unknown. */
    costUsd: requests > 0 && requests === unknownCosts ? null : toUsd(all?.cost ?? 0n),
    unknownCosts,
    averageLatencyMs: succeeded ? averageLatencyMs(succeeded) : null,
    p95LatencyMs: succeeded ? percentileMs(succeeded.latencies, 0.95) : null,
  };
}

function total(sums: UsageSum[]): UsageSum | undefined {
  return sums.length === 0 ? undefined : sums.reduce(addSums);
}

/** Null without requests. */
export function averageLatencyMs(sum: Pick<UsageSum, "latencyMs" | "requests">): number | null {
  return sum.requests > 0 ? Math.round(Number(sum.latencyMs) / sum.requests) : null;
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

/** The top five rows of each list. Keys, models and people are sorted by cost, then by requests. */
export async function readTopUsage(history: UsageHistory, person: Person, options: PeriodOptions) {
  const times = { from: new Date(startOf(options)), to: new Date(options.now + 1) };
  const read = (groupBy: ("apiKeyId" | "ownerId" | "model" | "errorReason")[]) =>
    history.summarize(person, times, { groupBy, interval: null, isWithoutTimes: true });
  // One read serves `keys` and `people`. It returns few extra rows, because keys rarely change owners.
  const owned = await read(["apiKeyId", "ownerId"]);
  const keys = await addUp(owned, ({ apiKeyId }) => apiKeyId);
  const people = can(person, "keys.ofOthers") ? await addUp(owned, ({ ownerId }) => ownerId) : [];
  const models = await read(["model"]);
  const reasons = await read(["errorReason"]);
  return {
    keys: topOf(keys, ({ apiKeyId = "", apiKeyName = "" }) => ({ id: apiKeyId, name: apiKeyName })),
    models: topOf(models, ({ model = "" }) => ({ id: model, name: model })),
    /** Empty for members. */
    people: topOf(people, ({ ownerId = "", ownerName = "" }) => ({ id: ownerId, name: ownerName })),
    /** Error reasons of failed and interrupted requests, most frequent first. */
    errors: reasons
      .map(({ errorReason, outcomes }) => ({
        reason: errorReason ?? "",
        requests: outcomes.FAILED + outcomes.INTERRUPTED,
      }))
      .filter(({ requests }) => requests > 0)
      .toSorted((one, other) => other.requests - one.requests)
      .slice(0, rowsMax),
  };
}

const rowsMax = 5;
/** About 2 ms of work. */
const rowsPerTurn = 200;

async function addUp(
  rows: UsageSummary[],
  keyOf: (row: UsageSummary) => string | undefined,
): Promise<UsageSummary[]> {
  const groups = new Map<string | undefined, UsageSummary>();
  for await (const row of inTurns(rows, rowsPerTurn)) {
    const sum = groups.get(keyOf(row));
    groups.set(keyOf(row), sum ? { ...sum, ...addSums(sum, row) } : row);
  }
  return [...groups.values()];
}

/** @param nameOf returns an empty `id` for requests without a model or owner */
function topOf(rows: UsageSummary[], nameOf: (row: UsageSummary) => { id: string; name: string }) {
  return rows
    .toSorted((one, other) => Number(other.cost - one.cost) || other.requests - one.requests)
    .slice(0, rowsMax)
    .map((row) => ({
      ...nameOf(row),
      requests: row.requests,
      costUsd: row.cost === 0n && row.unknownCosts > 0 ? null : toUsd(row.cost),
    }));
}

/** Costs of the current and the previous month, in UTC. Only known costs count. */
export async function forecastSpending(history: UsageHistory, person: Person, now: number) {
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
    /** The average since the first day with requests in the last 7 days. */
    dailyAverageUsd,
    averagedDays: Math.round(averagedDays),
    forecastUsd: monthToDateUsd + (dailyAverageUsd * (nextMonth - now)) / dayMs,
  };
}

const averagedDaysMax = 7;

function toUsd(nanoDollars: bigint): number {
  return Number(nanoDollars) / 1e9;
}
