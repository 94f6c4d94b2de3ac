import { latencyBoundsMs } from "../../../db/entities/usage-roll-up.ts";
import type { UsageSum } from "../../../db/repositories/usage-sum.ts";

/** Null where there are no requests. */
export function averageLatencyMs({
  latencyMs,
  requests,
}: Pick<UsageSum, "latencyMs" | "requests">): number | null {
  return requests > 0 ? Math.round(Number(latencyMs) / requests) : null;
}

/**
 * What that share of the requests took at most, as if those of a range were spread over it evenly; null where there are so
 * few requests that it would say more of the range than of them. Of the longest ones it is known only that they took longer
 * than the last bound, which is given then.
 */
export function percentileMs(latencies: readonly number[], share: number): number | null {
  const total = latencies.reduce((sum, count) => sum + count, 0);
  if (total < requestsLeast) return null;
  let left = total * share;
  for (const [index, upTo] of latencyBoundsMs.entries()) {
    const count = latencies[index] ?? 0;
    const above = latencyBoundsMs[index - 1] ?? 0;
    if (count >= left) return Math.round(above + ((upTo - above) * left) / count);
    left -= count;
  }
  return latencyBoundsMs.at(-1) ?? null;
}

/** 5 % of them are one request. */
const requestsLeast = 20;
