import { firstTokenBoundsMs, latencyBoundsMs } from "../entities/usage-roll-up.ts";
import type { UsageStatus } from "../entities/usage-record.ts";
import { type RawRow, toMoment } from "./raw-sql.ts";

/** Ungrouped dimensions are undefined. Sums that may exceed 2^53 are bigints. */
export type UsageSum = {
  startsAt: Date | undefined;
  apiKeyId: string | undefined;
  /** One of the key's names in the period. */
  apiKeyName: string | undefined;
  model: string | undefined;
  provider: string | undefined;
  status: UsageStatus | undefined;
  ownerId: string | undefined;
  clientTool: string | undefined;
  errorReason: string | undefined;
  requests: number;
  inputTokens: bigint;
  outputTokens: bigint;
  cachedInputTokens: bigint;
  cacheWriteInputTokens: bigint;
  reasoningTokens: bigint;
  /** Nano-dollars of the requests with a known cost. */
  cost: bigint;
  /** Nano-dollars that charge factors add to the cost. */
  markup: bigint;
  unknownCosts: number;
  latencyMs: bigint;
  /** The number of requests in each latency bucket: see `latencyBoundsMs`. */
  latencies: number[];
  /** The number of requests in each bucket of time to first token: see `firstTokenBoundsMs`. */
  firstTokens: number[];
};

export function toUsageSum(row: RawRow): UsageSum {
  const text = (name: string) => (typeof row[name] === "string" ? row[name] : undefined);
  // Without rows, SQL sums are null.
  const sum = (name: string) => BigInt(text(name) ?? 0);
  const buckets = (name: string, bounds: readonly number[]) =>
    Array.from({ length: bounds.length + 1 }, (_, index) => Number(sum(`${name}${index}`)));
  const period = text("starts_at");
  return {
    startsAt: period === undefined ? undefined : toMoment(period + wholeMoment.slice(period.length)),
    apiKeyId: text("apiKeyId"),
    apiKeyName: text("apiKeyName"),
    model: text("model"),
    provider: text("provider"),
    status: text("status") as UsageStatus | undefined,
    ownerId: text("ownerId"),
    clientTool: text("clientTool"),
    errorReason: text("errorReason"),
    requests: Number(sum("requests")),
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    cachedInputTokens: sum("cachedInputTokens"),
    cacheWriteInputTokens: sum("cacheWriteInputTokens"),
    reasoningTokens: sum("reasoningTokens"),
    cost: sum("cost"),
    markup: sum("markup"),
    unknownCosts: Number(sum("unknownCosts")),
    latencyMs: sum("latencyMs"),
    latencies: buckets("latency", latencyBoundsMs),
    firstTokens: buckets("firstToken", firstTokenBoundsMs),
  };
}

/** The end of this text completes a shortened moment, such as `2026-01-02 15` for an hour. */
const wholeMoment = "0000-01-01 00:00:00.000";
