import { bigInteger, id, index, integer, moment, type RowOf, table, text } from "./table.ts";
import type { UsageStatus } from "./usage-record.ts";

/**
 * Sums of usage records, written in the transaction that inserts the records: one row for each hour and each day (in UTC)
 * and each key, owner, model, provider and status in it, and one for all keys together: a month of everything is read from
 * some hundred rows so. They outlive the records. There are none by month: each resolution adds half to the work of inserting, and months have few days.
 */
export const UsageRollUp = table(
  "usage_roll_ups",
  {
    resolution: { ...text<UsageResolution>(8), primary: true },
    /** The first moment of the hour or day. */
    startsAt: moment({ primary: true }),
    /** A key's, or `allKeys`. */
    apiKeyId: id(),
    /** Empty for a key of nobody's: a part of the primary key cannot be null. */
    ownerId: id(),
    model: id({ length: 255 }),
    provider: id({ length: 63 }),
    status: { ...text<UsageStatus>(16), primary: true },
    /** As the key was called last. */
    apiKeyName: text(255),
    requests: integer(),
    inputTokens: bigInteger(),
    outputTokens: bigInteger(),
    cachedInputTokens: bigInteger(),
    cacheWriteInputTokens: bigInteger(),
    reasoningTokens: bigInteger(),
    /** Nano-dollars, of the requests whose cost is known. */
    cost: bigInteger(),
    /** How many requests have a cost that is not known. */
    unknownCosts: integer(),
    /** Milliseconds, of all requests together. */
    latencyMs: bigInteger(),
    /** How many requests took so long: see `latencyBoundsMs`. */
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
  },
  [
    index("usage_roll_ups_key", ["apiKeyId", "resolution", "startsAt"]),
    index("usage_roll_ups_owner", ["ownerId", "resolution", "startsAt"]),
  ],
  { withoutRowid: true },
);

/** In the place of a key's id, in rows that are the sums of all keys. */
export const allKeys = "";

/** `latency0` counts the requests that took at most the first of these, `latency9` those beyond the last. */
export const latencyBoundsMs = [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000] as const;

export type UsageResolution = "hour" | "day";
export type UsageRollUpRow = RowOf<typeof UsageRollUp>;
