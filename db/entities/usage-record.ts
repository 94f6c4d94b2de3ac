import type { CostDetails } from "./price-details.ts";
import {
  bigInteger,
  flag,
  id,
  index,
  integer,
  json,
  moment,
  nullable,
  type RowOf,
  table,
  text,
} from "./table.ts";

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
    apiKeyId: text(40),
    apiKeyName: text(255),
    /** The key's owner at the time of the request, who still sees the record after the key's deletion. */
    ownerId: nullable(text(40)),
    /** The model name in the request, such as a slug. Empty if the name is missing or `RecordedModelNames` omits it. */
    model: text(255),
    /** The last attempted provider: the model's own or a fallback's. Empty without an attempt. */
    provider: text(63),
    upstreamModel: nullable(text(255)),
    credentialId: nullable(text(40)),
    /** Includes retries and fallbacks. */
    attempts: integer({ default: 1 }),
    endpoint: text(64),
    /** Null if the request headers match no known tool. */
    clientTool: nullable(text(32)),
    stream: flag(),
    status: text<UsageStatus>(16),
    httpStatus: integer(),
    errorCode: nullable(text(64)),
    /** The holder of the limit or budget that rejected the request. Null for any other outcome. */
    limitedBy: nullable(text(16)),
    /** The error's reason, such as `http_429`. Without a reason, the gateway's own code. Null without an error. */
    errorReason: nullable(text(32)),
    /** The names of the request's parts that the gateway dropped, such as `tools.web_search`. */
    dropped: nullable(text(255)),
    inputTokens: nullable(integer()),
    outputTokens: nullable(integer()),
    cachedInputTokens: nullable(integer()),
    cacheWriteInputTokens: nullable(integer()),
    reasoningTokens: nullable(integer()),
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
  [
    index("usage_records_key", ["apiKeyId", "id"]),
    index("usage_records_owner", ["ownerId", "id"]),
    index("usage_records_model", ["model", "id"]),
    index("usage_records_provider", ["provider", "id"]),
    index("usage_records_status", ["status", "id"]),
    index("usage_records_tool", ["clientTool", "id"]),
    index("usage_records_reason", ["errorReason", "id"]),
  ],
  // Without row IDs, SQLite writes one B-tree fewer per insert.
  { withoutRowid: true },
);

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
