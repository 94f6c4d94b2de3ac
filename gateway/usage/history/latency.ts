import { latencyBoundsMs } from "../../../db/entities/usage-roll-up.ts";
import type { UsageSum } from "../../../db/repositories/usage-sum.ts";

/** Null without requests. */
export function averageLatencyMs({
  latencyMs,
  requests,
}: Pick<UsageSum, "latencyMs" | "requests">): number | null {
  return requests > 0 ? Math.round(Number(latencyMs) / requests) : null;
}

/**
 * The latency that this share of the requests does not exceed, interpolated within a bucket. Null for too few requests.
 * The open last bucket returns its lower bound.
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

/** With fewer, 5 % is less than one request. */
const requestsLeast = 20;
