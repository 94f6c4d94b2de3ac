import type { UsageRecord } from "./read-usage-record.ts";

/** The rows as CSV (RFC 4180), with a header line. */
export function formatCsv(records: UsageRecord[]): string {
  const lines = records.map((record) => columns.map(([, value]) => formatCell(value(record))).join(","));
  return [columns.map(([title]) => title).join(","), ...lines].join("\r\n") + "\r\n";
}

const columns: [title: string, value: (record: UsageRecord) => string | number | boolean | null][] = [
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
  // New columns come last, because scripts may count columns.
  ["attempts", (record) => record.attempts],
  ["client_tool", (record) => record.clientTool],
  ["owner_name", (record) => record.ownerName],
  ["limited_by", (record) => record.limitedBy],
  ["error_reason", (record) => record.errorReason],
];

/**
 * Quoted text, with an apostrophe before anything a spreadsheet would run as a formula. Quotes do not protect text
 * behind `;` or a tab where those separate cells, so it gets an apostrophe too.
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
function formatCell(value: string | number | boolean | null): string {
  if (value === null) return "";
  // Costs are decimal strings.
  if (typeof value !== "string" || /^\d+(\.\d+)?$/.test(value)) return String(value);
  const text = value.replaceAll(formulaStart, "$1'");
  return `"${text.replaceAll('"', '""')}"`;
}

/** Where a cell may start, before a character that starts a formula, full-width forms included. */
const formulaStart = /(^|[\r\n\t;,|])(?=(?:"|[^\S\r\n\t])*[=+\-@＝＋－＠])/g;
