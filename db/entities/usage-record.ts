import type { CostDetails } from "./price-details.ts";
import {
  bigInteger,
  type Column,
  flag,
  id,
  index,
  integer,
  json,
  moment,
  nullable,
  type Row,
  type RowOf,
  table,
  text,
} from "./table.ts";

/**
 * What usage is filtered and summed by. A dimension that a request may lack is null in records and empty in sums.
 * The order is a guess: of several conditions, the first one probably matches the fewest records.
 */
export const usageDimensions = {
  apiKeyId: { column: text(40), index: "usage_records_key" },
  /** The error's reason, such as `http_429`. Without a reason, the gateway's own code. Null without an error. */
  errorReason: { column: nullable(text(32)), index: "usage_records_reason", usual: "" },
  /** The key's owner at the time of the request, who still sees the record after the key's deletion. */
  ownerId: { column: nullable(text(40)), index: "usage_records_owner", isOfKey: true },
  /** The team that paid. */
  teamId: {
    column: nullable(text(40)),
    index: "usage_records_team",
    usual: "",
    isOfKey: true,
    isFixed: true,
  },
  status: { column: text<UsageStatus>(16), index: "usage_records_status", usual: "SUCCEEDED" },
  /** The model name in the request, such as a slug. Empty if the name is missing or `RecordedModelNames` omits it. */
  model: { column: text(255), index: "usage_records_model" },
  /** Null if the request headers match no known tool. */
  clientTool: { column: nullable(text(32)), index: "usage_records_tool", usual: "" },
  /** The last attempted provider: the model's own or a fallback's. Empty without an attempt. */
  provider: { column: text(63), index: "usage_records_provider" },
} satisfies Record<string, DimensionOptions>;

export type DimensionOptions = {
  column: Column<string | null>;
  index: string;
  /** The value of most records, whose condition matches too many for its index. */
  usual?: string;
  /** Whether the key determines the value, so that sums of all keys lack it. */
  isOfKey?: true;
  /** Whether it never changes for a key, so that it needs no sums of its own. */
  isFixed?: true;
};

export type UsageDimension = keyof typeof usageDimensions;

export const dimensionNames = Object.keys(usageDimensions) as UsageDimension[];

/** The dimensions that the key determines. */
export const keyDimensions = dimensionNames.filter((name) => optionsOf(name).isOfKey);

export function optionsOf(name: UsageDimension): DimensionOptions {
  return usageDimensions[name];
}

/** The counts that are summed. Null if unknown. */
const usageCounts = {
  inputTokens: nullable(integer()),
  outputTokens: nullable(integer()),
  cachedInputTokens: nullable(integer()),
  cacheWriteInputTokens: nullable(integer()),
  reasoningTokens: nullable(integer()),
};

export type UsageCount = keyof typeof usageCounts;

export const countNames = Object.keys(usageCounts) as UsageCount[];

/**
 * The numbers, times and outcome of a request, without its content. There are no foreign keys, because records
 * outlive keys and models.
 */
export const UsageRecord = table(
  "usage_records",
  {
    /** The `x-request-id` of the response. IDs are ordered by time. */
    id: id(),
    createdAt: moment(),
    ...columnsOf(usageDimensions),
    apiKeyName: text(255),
    upstreamModel: nullable(text(255)),
    credentialId: nullable(text(40)),
    /** Includes retries and fallbacks. */
    attempts: integer({ default: 1 }),
    endpoint: text(64),
    stream: flag(),
    httpStatus: integer(),
    errorCode: nullable(text(64)),
    /** The holder of the limit or budget that rejected the request. Null for any other outcome. */
    limitedBy: nullable(text(16)),
    /** The names of the request's parts that the gateway dropped, such as `tools.web_search`. */
    dropped: nullable(text(255)),
    ...usageCounts,
    /** Whether a token count is the gateway's estimate. */
    estimated: flag(),
    /** Nano-dollars. Null if the cost is unknown. */
    cost: nullable(bigInteger()),
    /** The model's prices when the cost was calculated, in nano-dollars per million tokens. */
    inputPrice: nullable(bigInteger()),
    cachedInputPrice: nullable(bigInteger()),
    cacheWritePrice: nullable(bigInteger()),
    outputPrice: nullable(bigInteger()),
    latencyMs: integer(),
    timeToFirstTokenMs: nullable(integer()),
    /** The phases of `latencyMs`. Null if the phases are unknown or the latency has a single phase. */
    timing: nullable(json<RequestTiming>()),
    /** The calculation of the cost. Null if the other columns explain the cost. */
    costDetails: nullable(json<CostDetails>()),
    /** The cost that the provider reported, in nano-dollars. */
    providerCost: nullable(bigInteger()),
    /** Nano-dollars that the factors of the provider and the key add to the cost. Negative for a discount. */
    markup: bigInteger({ default: 0 }),
  },
  // A page lists the newest records of one index, so each index ends with the ID. `recordIndex` selects the index for
  // a filter.
  dimensionNames.map((name) => index(usageDimensions[name].index, [name, "id"])),
  // Without row IDs, SQLite writes one B-tree fewer per insert.
  { withoutRowid: true },
);

type ColumnsOf<Dimensions extends Record<string, DimensionOptions>> = {
  [Name in keyof Dimensions]: Dimensions[Name]["column"];
};

function columnsOf<Dimensions extends Record<string, DimensionOptions>>(dimensions: Dimensions) {
  const columns = Object.entries(dimensions).map(([name, { column }]) => [name, column]);
  return Object.fromEntries(columns) as ColumnsOf<Dimensions>;
}

/** Whole milliseconds. `receivedMs` and `startMs` count from the start of the request. */
export type RequestTiming = {
  /** The end of the request body. */
  receivedMs: number;
  /** The first attempts, in order. Attempts beyond `attemptTimingsMax` are omitted. */
  attempts: AttemptTiming[];
};

export type AttemptTiming = {
  provider: string;
  /** The name of the upstream model. */
  model: string;
  startMs: number;
  durationMs: number;
  /** The retryable failure, such as `http_429`. Null for success or any other failure. */
  failure: string | null;
};

export type UsageStatus = "SUCCEEDED" | "FAILED" | "CANCELLED" | "INTERRUPTED";
export type UsageRecordRow = RowOf<typeof UsageRecord>;

/** The values of the dimensions in sums. */
export type UsageGroup = {
  [Name in UsageDimension]: NonNullable<Row<ColumnsOf<typeof usageDimensions>>[Name]>;
};
