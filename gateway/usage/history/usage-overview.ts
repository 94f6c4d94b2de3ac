import type { UsageSum } from "../../../db/repositories/usage-sum.ts";
import type { Person } from "../../auth/person.ts";
import { addSums } from "./add-sums.ts";
import { averageLatencyMs, percentileMs } from "./latency.ts";
import type { UsageHistory } from "./usage-history.ts";

/** The activity of a period. Latencies cover successful requests. */
type Activity = {
  requests: number;
  /** Requests that failed or that the gateway ended. */
  errors: number;
  successes: number;
  /** US dollars of the requests with a known cost. Null if no cost is known. */
  costUsd: number | null;
  unknownCosts: number;
  averageLatencyMs: number | null;
  p95LatencyMs: number | null;
};

export type UsageOverview = {
  from: Date;
  to: Date;
  /** The 24 hours, oldest first. The last hour is incomplete. */
  hours: (Activity & { startsAt: Date })[];
  total: Activity;
  /** The same period, one day earlier. */
  dayBefore: Activity;
};

/** The last 24 hours of the user's visible usage, compared with the previous day. */
export async function readOverview(
  history: UsageHistory,
  person: Person,
  now: number,
): Promise<UsageOverview> {
  const from = (Math.floor(now / hourMs) - 23) * hourMs;
  const read = (start: number, end: number, interval: "hour" | null) =>
    history.summarize(
      person,
      { from: new Date(start), to: new Date(end) },
      { groupBy: ["status"], interval },
    );
  const sums = await read(from, now + 1, "hour");
  const byHour = Map.groupBy(sums, ({ startsAt }) => startsAt?.getTime());
  const hours = Array.from({ length: 24 }, (_, index) => from + index * hourMs);
  return {
    from: new Date(from),
    to: new Date(now),
    hours: hours.map((start) => ({ startsAt: new Date(start), ...toActivity(byHour.get(start) ?? []) })),
    total: toActivity(sums),
    dayBefore: toActivity(await read(from - dayMs, now + 1 - dayMs, null)),
  };
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const nanoPerDollar = 1e9;

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
