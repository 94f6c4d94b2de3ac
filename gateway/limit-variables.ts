/** Every limit has its unit at the end of its name, a default, and an environment variable that changes it. */
export const limitVariables = {
  requestBodyBytesMax: { variable: "REQUEST_BODY_BYTES_MAX", value: 32 * 1024 * 1024 },
  requestJsonDepthMax: { variable: "REQUEST_JSON_DEPTH_MAX", value: 128 },
  requestHeadersTimeoutMs: { variable: "REQUEST_HEADERS_TIMEOUT_MS", value: 10_000 },
  requestReceiveTimeoutMs: { variable: "REQUEST_RECEIVE_TIMEOUT_MS", value: 60_000 },
  clientStallTimeoutMs: { variable: "CLIENT_STALL_TIMEOUT_MS", value: 60_000 },
  streamPingIntervalMs: { variable: "STREAM_PING_INTERVAL_MS", value: 15_000 },
  upstreamConnectTimeoutMs: { variable: "UPSTREAM_CONNECT_TIMEOUT_MS", value: 5_000 },
  upstreamFirstByteTimeoutMs: { variable: "UPSTREAM_FIRST_BYTE_TIMEOUT_MS", value: 120_000 },
  upstreamIdleTimeoutMs: { variable: "UPSTREAM_IDLE_TIMEOUT_MS", value: 60_000 },
  upstreamTotalTimeoutMs: { variable: "UPSTREAM_TOTAL_TIMEOUT_MS", value: 900_000 },
  upstreamAnswerBytesMax: { variable: "UPSTREAM_ANSWER_BYTES_MAX", value: 64 * 1024 * 1024 },
  upstreamEventBytesMax: { variable: "UPSTREAM_EVENT_BYTES_MAX", value: 8 * 1024 * 1024 },
  upstreamConnectionsMax: { variable: "UPSTREAM_CONNECTIONS_MAX", value: 2_000 },
  upstreamAttemptsMax: { variable: "UPSTREAM_ATTEMPTS_MAX", value: 3 },
  upstreamCoolDownMs: { variable: "UPSTREAM_COOL_DOWN_MS", value: 5_000 },
  upstreamCoolDownMsMax: { variable: "UPSTREAM_COOL_DOWN_MS_MAX", value: 300_000 },
  upstreamRetryWaitMsMax: { variable: "UPSTREAM_RETRY_WAIT_MS_MAX", value: 2_000 },
  upstreamRetryPercentMax: { variable: "UPSTREAM_RETRY_PERCENT_MAX", value: 10 },
  keyCacheEntriesMax: { variable: "KEY_CACHE_ENTRIES_MAX", value: 100_000 },
  keyLookupsMax: { variable: "KEY_LOOKUPS_MAX", value: 100 },
  changePollIntervalMs: { variable: "CHANGE_POLL_INTERVAL_MS", value: 250 },
  databaseConnectionsMax: { variable: "DATABASE_CONNECTIONS_MAX", value: 10 },
  databaseTimeoutMs: { variable: "DATABASE_TIMEOUT_MS", value: 5_000 },
  usageQueueRecordsMax: { variable: "USAGE_QUEUE_RECORDS_MAX", value: 100_000 },
  usageBatchRecordsMax: { variable: "USAGE_BATCH_RECORDS_MAX", value: 500 },
  usageFlushIntervalMs: { variable: "USAGE_FLUSH_INTERVAL_MS", value: 100 },
  auditRetentionDays: { variable: "AUDIT_RETENTION_DAYS", value: 400 },
  usageQueryTimeoutMs: { variable: "USAGE_QUERY_TIMEOUT_MS", value: 2_000 },
  usageRecordsPerPageMax: { variable: "USAGE_RECORDS_PER_PAGE_MAX", value: 500 },
  usageSummaryRowsMax: { variable: "USAGE_SUMMARY_ROWS_MAX", value: 10_000 },
  drainTimeoutMs: { variable: "DRAIN_TIMEOUT_MS", value: 30_000 },
} as const;

export type Limits = Readonly<Record<keyof typeof limitVariables, number>>;

export type LimitVariable = (typeof limitVariables)[keyof typeof limitVariables]["variable"];
