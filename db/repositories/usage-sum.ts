import { firstTokenBoundsMs, latencyBoundsMs } from "../entities/usage-roll-up.ts";
import {
  countNames,
  dimensionNames,
  type UsageCount,
  type UsageDimension,
  type UsageGroup,
} from "../entities/usage-record.ts";
import { type RawRow, toMoment } from "./raw-sql.ts";

/** Ungrouped dimensions are undefined. Sums that may exceed 2^53 are bigints. */
export type UsageSum = { [Name in keyof UsageGroup]: UsageGroup[Name] | undefined } & Record<
  UsageCount,
  bigint
> & {
    startsAt: Date | undefined;
    /** One of the key's names in the period. */
    apiKeyName: string | undefined;
    requests: number;
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
    ...(Object.fromEntries(dimensionNames.map((name) => [name, text(name)])) as Pick<
      UsageSum,
      UsageDimension
    >),
    apiKeyName: text("apiKeyName"),
    requests: Number(sum("requests")),
    ...(Object.fromEntries(countNames.map((name) => [name, sum(name)])) as Record<UsageCount, bigint>),
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
