import { type CsvColumn, formatTable } from "#lib/csv.ts";
import type { UsageRecord } from "./read-usage-record.ts";

export function formatCsv(records: UsageRecord[]): string {
  return formatTable(columns, records);
}

const columns: CsvColumn<UsageRecord>[] = [
  ["id", (record) => record.id],
  ["created_at_utc", (record) => record.createdAt],
  ["api_key_id", (record) => record.apiKeyId],
  ["api_key_name", (record) => record.apiKeyName],
  ["model", (record) => record.model],
  ["provider", (record) => record.provider],
  ["upstream_model", (record) => record.upstreamModel],
  ["endpoint", (record) => record.endpoint],
  ["stream", (record) => record.stream],
  ["status", (record) => record.status],
  ["http_status", (record) => record.httpStatus],
  ["error_code", (record) => record.errorCode],
  ["input_tokens", (record) => record.inputTokens],
  ["output_tokens", (record) => record.outputTokens],
  ["cached_input_tokens", (record) => record.cachedInputTokens],
  ["reasoning_tokens", (record) => record.reasoningTokens],
  ["estimated", (record) => record.estimated],
  ["cost_usd", (record) => record.costUsd],
  ["latency_ms", (record) => record.latencyMs],
  ["time_to_first_token_ms", (record) => record.timeToFirstTokenMs],
  // New columns come last, because scripts may address columns by position.
  ["attempts", (record) => record.attempts],
  ["client_tool", (record) => record.clientTool],
  ["owner_name", (record) => record.ownerName],
  ["limited_by", (record) => record.limitedBy],
  ["error_reason", (record) => record.errorReason],
  ["charge_usd", (record) => record.chargeUsd],
];
