import {
  bigInteger,
  type Column,
  columnsFor,
  id,
  index,
  integer,
  moment,
  type RowOf,
  table,
  text,
} from "./table.ts";
import { countNames, dimensionNames, optionsOf, type UsageGroup } from "./usage-record.ts";

/** `latency0` counts requests up to the first bound, `latency9` requests above the last bound. */
export const latencyBoundsMs = [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000] as const;

/** `firstToken0` counts requests up to the first bound, `firstToken9` requests above the last bound. */
export const firstTokenBoundsMs = [50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800] as const;

export type Bucket = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

const bucketIndices: Bucket[] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

const sums = {
  requests: integer(),
  ...columnsFor(countNames, bigInteger()),
  /** Nano-dollars of the requests with a known cost. */
  cost: bigInteger(),
  /** The number of requests without a known cost. */
  unknownCosts: integer(),
  /** Milliseconds, summed over all requests. */
  latencyMs: bigInteger(),
  /** The number of requests per latency bucket: see `latencyBoundsMs`. */
  ...columnsFor(
    bucketIndices.map((bucket) => `latency${bucket}` as const),
    integer(),
  ),
  /** The number of requests with a first token, per bucket: see `firstTokenBoundsMs`. */
  ...columnsFor(
    bucketIndices.map((bucket) => `firstToken${bucket}` as const),
    integer({ default: 0 }),
  ),
  /** Nano-dollars that the charge factors add to the cost. Negative for a discount. */
  markup: bigInteger({ default: 0 }),
  /** The minimum cost of the requests without a known cost, in nano-dollars. Only budgets count it. */
  leastCost: bigInteger({ default: 0 }),
};

export const sumNames = Object.keys(sums) as (keyof typeof sums)[];

/**
 * Sums of usage records by hour or day (UTC), for each key and for all keys. Sums outlive the records. Monthly
 * sums would add 50 % to the cost of an insert.
 */
export const UsageRollUp = table(
  "usage_roll_ups",
  {
    resolution: { ...text<UsageResolution>(8), primary: true },
    startsAt: moment({ primary: true }),
    /** Dimensions without a value are empty, because a primary key cannot be null. */
    ...groupColumns(),
    /** The key's name. Empty in sums of all keys. */
    apiKeyName: text(255),
    ...sums,
  },
  [
    index("usage_roll_ups_key", ["apiKeyId", "resolution", "startsAt"]),
    index("usage_roll_ups_owner", ["ownerId", "resolution", "startsAt"]),
    index("usage_roll_ups_team", ["teamId", "resolution", "startsAt"]),
  ],
  { withoutRowid: true },
);

function groupColumns() {
  const columns = dimensionNames.map((name) => {
    const { column, isFixed } = optionsOf(name);
    return [name, { ...column, nullable: false, ...(isFixed ? { default: "" } : { primary: true }) }];
  });
  const group = Object.fromEntries(columns) as { [Name in keyof UsageGroup]: Column<UsageGroup[Name]> };
  return { ...group, errorReason: id({ length: 64 }) };
}

/** Replaces the key ID in rows that sum all keys. What the key determines is then empty. */
export const allKeys = "";

export type UsageResolution = "hour" | "day";
export type UsageRollUpRow = RowOf<typeof UsageRollUp>;
