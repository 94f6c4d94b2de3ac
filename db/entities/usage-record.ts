import { bigInteger, flag, id, index, integer, moment, nullable, type RowOf, table, text } from "./table.ts";

/**
 * One request that was made with a key: counts, names, times and how it ended, never content. It has no foreign keys:
 * it outlives the key and the model, under their names of the time.
 */
export const UsageRecord = table(
  "usage_records",
  {
    /** The `x-request-id` of the response; ordered by time. */
    id: id(),
    createdAt: moment(),
    apiKeyId: text(40),
    apiKeyName: text(255),
    /** Whose key it was then: they see the record when the key is gone. Null for a key of nobody's. */
    ownerId: nullable(text(40)),
    /** What the client asked for: a slug, or a name without a provider. Empty where it named none, or none that is kept. */
    model: text(255),
    /** Who answered, or was called last: the model's own provider, or that of a fallback. Empty where nobody was. */
    provider: text(63),
    upstreamModel: nullable(text(255)),
    credentialId: nullable(text(40)),
    /** How many times an upstream was called. */
    attempts: integer({ default: 1 }),
    endpoint: text(64),
    /** The coding tool that asked, as its user-agent says; null for any other client. */
    clientTool: nullable(text(32)),
    stream: flag(),
    status: text<UsageStatus>(16),
    httpStatus: integer(),
    errorCode: nullable(text(64)),
    /** Whose limit or budget refused it; null however else it ended. */
    limitedBy: nullable(text(16)),
    /** What the code leaves open; null where it says it all, and for every success. */
    errorReason: nullable(text(32)),
    inputTokens: nullable(integer()),
    outputTokens: nullable(integer()),
    cachedInputTokens: nullable(integer()),
    cacheWriteInputTokens: nullable(integer()),
    reasoningTokens: nullable(integer()),
    /** True when a count was worked out here because the upstream did not report it. */
    estimated: flag(),
    /** Nano-dollars; null when a price or a count is unknown, 0 where nothing went to an upstream. */
    cost: nullable(bigInteger()),
    /** The prices that made the cost, in nano-dollars per million tokens, so that it can be worked out again. */
    inputPrice: nullable(bigInteger()),
    cachedInputPrice: nullable(bigInteger()),
    cacheWritePrice: nullable(bigInteger()),
    outputPrice: nullable(bigInteger()),
    latencyMs: integer(),
    timeToFirstTokenMs: nullable(integer()),
  },
  // A page is the newest of one of these, so each ends in the id. The repository says which index serves which filter.
  [
    index("usage_records_key", ["apiKeyId", "id"]),
    index("usage_records_owner", ["ownerId", "id"]),
    index("usage_records_model", ["model", "id"]),
    index("usage_records_provider", ["provider", "id"]),
    index("usage_records_status", ["status", "id"]),
  ],
  // One is written for every request, and looked up by its id or in the order of ids.
  { withoutRowid: true },
);

export type UsageStatus = "SUCCEEDED" | "FAILED" | "CANCELLED" | "INTERRUPTED";
export type UsageRecordRow = RowOf<typeof UsageRecord>;
