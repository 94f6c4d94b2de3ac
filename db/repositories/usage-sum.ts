import { latencyBoundsMs } from "../entities/usage-roll-up.ts";
import type { UsageStatus } from "../entities/usage-record.ts";
import { type RawRow, toMoment } from "./raw-sql.ts";

/** Sums of usage. What it was not told apart by is undefined; costs and tokens may be beyond what a double holds. */
export type UsageSum = {
  startsAt: Date | undefined;
  apiKeyId: string | undefined;
  /** A name that the key had. */
  apiKeyName: string | undefined;
  model: string | undefined;
  provider: string | undefined;
  status: UsageStatus | undefined;
  requests: number;
  inputTokens: bigint;
  outputTokens: bigint;
  cachedInputTokens: bigint;
  cacheWriteInputTokens: bigint;
  reasoningTokens: bigint;
  /** Nano-dollars, of the requests whose cost is known. */
  cost: bigint;
  unknownCosts: number;
  /** Milliseconds, of all requests together. */
  latencyMs: bigint;
  /** How many requests took so long: up to the first of `latencyBoundsMs`, up to the second, …, and longer than all. */
  latencies: number[];
};

export function toUsageSum(row: RawRow): UsageSum {
  const text = (name: string) => (typeof row[name] === "string" ? row[name] : undefined);
  // Where there is nothing to sum, sums are null.
  const sum = (name: string) => BigInt(text(name) ?? 0);
  const period = text("starts_at");
  return {
    startsAt: period === undefined ? undefined : toMoment(period + wholeMoment.slice(period.length)),
    apiKeyId: text("apiKeyId"),
    apiKeyName: text("apiKeyName"),
    model: text("model"),
    provider: text("provider"),
    status: text("status") as UsageStatus | undefined,
    requests: Number(sum("requests")),
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    cachedInputTokens: sum("cachedInputTokens"),
    cacheWriteInputTokens: sum("cacheWriteInputTokens"),
    reasoningTokens: sum("reasoningTokens"),
    cost: sum("cost"),
    unknownCosts: Number(sum("unknownCosts")),
    latencyMs: sum("latencyMs"),
    latencies: Array.from({ length: latencyBoundsMs.length + 1 }, (_, index) =>
      Number(sum(`latency${index}`)),
    ),
  };
}

/** What a moment goes on with where its text ends: hours, days and months have shorter ones. */
const wholeMoment = "0000-01-01 00:00:00.000";
