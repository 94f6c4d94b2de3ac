import type { UsageSum } from "../../../db/repositories/usage-sum.ts";

/** Adds two sums. The result has the group of the first one. */
export function addSums(one: UsageSum, other: UsageSum): UsageSum {
  return {
    ...one,
    requests: one.requests + other.requests,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    cacheWriteInputTokens: one.cacheWriteInputTokens + other.cacheWriteInputTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
    cost: one.cost + other.cost,
    markup: one.markup + other.markup,
    unknownCosts: one.unknownCosts + other.unknownCosts,
    latencyMs: one.latencyMs + other.latencyMs,
    latencies: addCounts(one.latencies, other.latencies),
    firstTokens: addCounts(one.firstTokens, other.firstTokens),
  };
}

export function addCounts(one: readonly number[], other: readonly number[]): number[] {
  return one.map((count, index) => count + (other[index] ?? 0));
}
