import { bigInteger, id, index, integer, moment, type RowOf, table, text } from "./table.ts";
import type { UsageStatus } from "./usage-record.ts";

/**
 * Sums of usage records by hour or day (UTC), for each key and for all keys. Sums outlive the records. Monthly
 * sums would add 50 % to the cost of an insert.
 */
export const UsageRollUp = table(
  "usage_roll_ups",
  {
    resolution: { ...text<UsageResolution>(8), primary: true },
    startsAt: moment({ primary: true }),
    /** A key's ID, or `allKeys`. */
    apiKeyId: id(),
    /** Empty without an owner and in sums of all keys, because a primary key cannot be null. */
    ownerId: id(),
    model: id({ length: 255 }),
    provider: id({ length: 63 }),
    status: { ...text<UsageStatus>(16), primary: true },
    /** Empty without a known tool. */
    clientTool: id({ length: 32 }),
    /** Empty without an error. */
    errorReason: id({ length: 64 }),
    /** The key's name. Empty in sums of all keys. */
    apiKeyName: text(255),
    requests: integer(),
    inputTokens: bigInteger(),
    outputTokens: bigInteger(),
    cachedInputTokens: bigInteger(),
    cacheWriteInputTokens: bigInteger(),
    reasoningTokens: bigInteger(),
    /** Nano-dollars of the requests with a known cost. */
    cost: bigInteger(),
    /** The number of requests without a known cost. */
    unknownCosts: integer(),
    /** Milliseconds, summed over all requests. */
    latencyMs: bigInteger(),
    /** The number of requests per latency bucket: see `latencyBoundsMs`. */
    latency0: integer(),
    latency1: integer(),
    latency2: integer(),
    latency3: integer(),
    latency4: integer(),
    latency5: integer(),
    latency6: integer(),
    latency7: integer(),
    latency8: integer(),
    latency9: integer(),
    /** The number of requests with a first token, per bucket: see `firstTokenBoundsMs`. */
    firstToken0: integer({ default: 0 }),
    firstToken1: integer({ default: 0 }),
    firstToken2: integer({ default: 0 }),
    firstToken3: integer({ default: 0 }),
    firstToken4: integer({ default: 0 }),
    firstToken5: integer({ default: 0 }),
    firstToken6: integer({ default: 0 }),
    firstToken7: integer({ default: 0 }),
    firstToken8: integer({ default: 0 }),
    firstToken9: integer({ default: 0 }),
    /** Nano-dollars that the charge factors add to the cost. Negative for a discount. */
    markup: bigInteger({ default: 0 }),
    /** The minimum cost of the requests without a known cost, in nano-dollars. Only budgets count it. */
    leastCost: bigInteger({ default: 0 }),
  },
  [
    index("usage_roll_ups_key", ["apiKeyId", "resolution", "startsAt"]),
    index("usage_roll_ups_owner", ["ownerId", "resolution", "startsAt"]),
  ],
  { withoutRowid: true },
);

/** Replaces the key ID in rows that sum all keys. */
export const allKeys = "";

/** `latency0` counts requests up to the first bound, `latency9` requests above the last bound. */
export const latencyBoundsMs = [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000] as const;

/** `firstToken0` counts requests up to the first bound, `firstToken9` requests above the last bound. */
export const firstTokenBoundsMs = [50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800] as const;

export type UsageResolution = "hour" | "day";
export type UsageRollUpRow = RowOf<typeof UsageRollUp>;
