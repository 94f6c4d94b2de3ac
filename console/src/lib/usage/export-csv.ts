import { toDateText } from "#lib/keys/expiry.ts";
import { listUsageRecords } from "./list-usage-records.ts";
import type { UsageRecord } from "./read-usage-record.ts";
import type { UsageFilter } from "./usage-filter.ts";

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
  // New columns come last: somebody's script counts them.
  ["attempts", (record) => record.attempts],
  ["client_tool", (record) => record.clientTool],
  ["owner_name", (record) => record.ownerName],
  ["limited_by", (record) => record.limitedBy],
  ["error_reason", (record) => record.errorReason],
];

/** The rows as CSV (RFC 4180), with a line of titles. */
function formatCsv(records: UsageRecord[]): string {
  const lines = records.map((record) => columns.map(([, value]) => formatCell(value(record))).join(","));
  return [columns.map(([title]) => title).join(","), ...lines].join("\r\n") + "\r\n";
}

/**
 * Text that a spreadsheet would take for a formula gets an apostrophe before it: names come from people, and the sheet is
 * opened by somebody else. See https://owasp.org/www-community/attacks/CSV_Injection.
 */
function formatCell(value: string | number | boolean | null): string {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Fetches every record of the filter and has the browser save them. `onprogress` is told how many there are so far.
 * Throws when there are more than a browser should hold.
 */
export async function exportCsv(
  filter: UsageFilter,
  { signal, onprogress }: { signal: AbortSignal; onprogress: (count: number) => void },
): Promise<void> {
  const records: UsageRecord[] = [];
  let after: string | undefined;
  do {
    const page = await listUsageRecords(filter, { first: recordsPerPage, after });
    signal.throwIfAborted();
    records.push(...page.items);
    onprogress(records.length);
    if (records.length > recordsMax) {
      throw new Error(`There are more than ${recordsMax} records. Choose a shorter period, or filter.`);
    }
    after = page.nextCursor ?? undefined;
  } while (after !== undefined);
  // The end is not a part of it: what ends at midnight has the day before as its last.
  const days = [Date.parse(filter.from), Date.parse(filter.to) - 1].map(toDateText);
  save(formatCsv(records), `usage-${days.join("-to-")}.csv`);
}

const recordsPerPage = 500;
const recordsMax = 200_000;

function save(text: string, name: string): void {
  const link = document.createElement("a");
  // The mark at the beginning makes Excel read it as UTF-8.
  link.href = URL.createObjectURL(new Blob(["\u{feff}", text], { type: "text/csv;charset=utf-8" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
