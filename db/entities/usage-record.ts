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
 * A request: counts, names at that time, times and outcome, never content. It has no foreign keys, because
 * records outlive keys and models.
 */
export const UsageRecord = table(
  "usage_records",
  {
    /** The `x-request-id` of the response. IDs are ordered by time. */
    id: id(),
    createdAt: moment(),
    apiKeyId: text(40),
    apiKeyName: text(255),
    /** The key's owner at that time, who sees the record after the key is deleted. Null without an owner. */
    ownerId: nullable(text(40)),
    /** The requested model: a slug, or a name without a provider. Empty without a valid name. */
    model: text(255),
    /** The provider that answered or was called last: the model's own or a fallback's. Empty without a call. */
    provider: text(63),
    upstreamModel: nullable(text(255)),
    credentialId: nullable(text(40)),
    /** The number of upstream calls. */
    attempts: integer({ default: 1 }),
    endpoint: text(64),
    /** The client's coding tool, from its user agent. Null for any other client. */
    clientTool: nullable(text(32)),
    stream: flag(),
    status: text<UsageStatus>(16),
    httpStatus: integer(),
    errorCode: nullable(text(64)),
    /** The holder of the limit or budget that rejected the request. Null for any other outcome. */
    limitedBy: nullable(text(16)),
    /** Details of the error code. Without details, the gateway's own code. Null without an error. */
    errorReason: nullable(text(32)),
    /** The names of the request's parts that its translation dropped, such as `tools.web_search`. */
    dropped: nullable(text(255)),
    inputTokens: nullable(integer()),
    outputTokens: nullable(integer()),
    cachedInputTokens: nullable(integer()),
    cacheWriteInputTokens: nullable(integer()),
    reasoningTokens: nullable(integer()),
    /** True when the gateway estimated a count that the upstream did not report. */
    estimated: flag(),
    /** Nano-dollars. Null if a price or count is unknown, 0 if no upstream received or accepted the request. */
    cost: nullable(bigInteger()),
    /** The applied prices of text tokens, in nano-dollars per million. */
    inputPrice: nullable(bigInteger()),
    cachedInputPrice: nullable(bigInteger()),
    cacheWritePrice: nullable(bigInteger()),
    outputPrice: nullable(bigInteger()),
    latencyMs: integer(),
    timeToFirstTokenMs: nullable(integer()),
    /** The times of the upload and the attempts. Null without an attempt, or if the only attempt started at once. */
    timing: nullable(json<RequestTiming>()),
    /** The calculation of the cost. Null if the columns explain it. */
    costDetails: nullable(json<CostDetails>()),
    /** The cost that the provider reported, in nano-dollars. */
    providerCost: nullable(bigInteger()),
    /** Nano-dollars that the factors of the provider and the key add to the cost. Negative for a discount. */
    markup: bigInteger({ default: 0 }),
  },
  // A page is the newest part of one index, so each index ends with the ID. The repository selects the index
  // for a filter.
  [
    index("usage_records_key", ["apiKeyId", "id"]),
    index("usage_records_owner", ["ownerId", "id"]),
    index("usage_records_model", ["model", "id"]),
    index("usage_records_provider", ["provider", "id"]),
    index("usage_records_status", ["status", "id"]),
    index("usage_records_tool", ["clientTool", "id"]),
    index("usage_records_reason", ["errorReason", "id"]),
  ],
  // Without row IDs, an insert writes one tree less. Queries read rows by ID or in ID order.
  { withoutRowid: true },
);

/** Whole milliseconds. `receivedMs` and `startMs` count from the start of the request. */
export type RequestTiming = {
  /** The end of the request body. Queueing and the lookup of limits follow. */
  receivedMs: number;
  /** The first attempts, in order. A request with more attempts omits the later ones. */
  attempts: AttemptTiming[];
};

export type AttemptTiming = {
  provider: string;
  /** The provider's name of the model. */
  model: string;
  startMs: number;
  durationMs: number;
  /** The reason why the next attempt followed, such as `http_429`. Null for the attempt that decided the outcome. */
  failure: string | null;
};

export type UsageStatus = "SUCCEEDED" | "FAILED" | "CANCELLED" | "INTERRUPTED";
export type UsageRecordRow = RowOf<typeof UsageRecord>;
