import { firstTokenBoundsMs, latencyBoundsMs } from "../../../db/entities/usage-roll-up.ts";
import type { UsageSum } from "../../../db/repositories/usage-sum.ts";

/** The average. Null without requests. */
export function averageLatencyMs({
  latencyMs,
  requests,
}: Pick<UsageSum, "latencyMs" | "requests">): number | null {
  return requests > 0 ? Math.round(Number(latencyMs) / requests) : null;
}

/**
 * The latency that this share of the requests does not exceed, interpolated within a bucket. Null for too few
 * requests. The open last bucket returns its lower bound.
 */
export function percentileMs(
  counts: readonly number[],
  share: number,
  bounds: readonly number[] = latencyBoundsMs,
): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  // With fewer requests, the remaining share is less than one request.
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

/** The percentile of times to first token. */
export function firstTokenPercentileMs({ firstTokens }: Pick<UsageSum, "firstTokens">, share: number) {
  return percentileMs(firstTokens, share, firstTokenBoundsMs);
}
