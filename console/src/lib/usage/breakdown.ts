import type { CsvColumn } from "#lib/csv.ts";
import { formatCompact, formatCount, formatDuration, formatPercentile } from "#lib/format/numbers.ts";
import { formatCostSum } from "./format-cost.ts";
import type { UsageDimension } from "#lib/session/graphql-document.ts";
import type { Column, Sort } from "#lib/ui/columns.ts";
import type { UsageBeforeRow, UsageTotalsRow } from "./summarize-usage.ts";
import { groupOf } from "./usage-groups.ts";

/** Times are in milliseconds and costs in US dollars. Shares and rates are between 0 and 1. */
export type BreakdownRow = {
  key: string;
  name: string;
  requests: number;
  errors: number;
  errorRate: number;
  p50: number | null;
  p95: number | null;
  ttft: number | null;
  input: number;
  cached: number;
  output: number;
  cost: number | null;
  charge: number | null;
  unpriced: number;
  share: number;
  /** The change since the previous period, as a factor. Null if the previous value was 0. */
  change: number | null;
};

/** Shares and changes refer to costs, or to requests if all costs are unknown or 0. */
export function toBreakdown(
  current: UsageTotalsRow[],
  before: UsageBeforeRow[],
  dimension: UsageDimension,
): BreakdownRow[] {
  const isPriced = current.some(({ costUsd }) => Number(costUsd ?? 0) > 0);
  const valueOf = ({ costUsd, requests }: UsageBeforeRow) => (isPriced ? Number(costUsd ?? 0) : requests);
  const earlier = new Map(before.map((row) => [groupOf(row, dimension).key, valueOf(row)]));
  const total = current.reduce((sum, row) => sum + valueOf(row), 0);
  return current
    .filter((row) => dimension !== "ERROR_REASON" || row.errorReason !== "")
    .map((row) => {
      const { key, label: name } = groupOf(row, dimension);
      const previous = earlier.get(key) ?? 0;
      return {
        key,
        name,
        requests: row.requests,
        errors: row.failed + row.interrupted,
        errorRate: (row.failed + row.interrupted) / row.requests,
        p50: row.p50DurationMs,
        p95: row.p95DurationMs,
        ttft: row.p50TimeToFirstTokenMs,
        input: Number(row.inputTokens),
        cached: Number(row.cachedInputTokens),
        output: Number(row.outputTokens),
        cost: row.costUsd === null ? null : Number(row.costUsd),
        charge: row.chargeUsd === null ? null : Number(row.chargeUsd),
        unpriced: row.unknownCosts,
        share: total === 0 ? 0 : valueOf(row) / total,
        change: previous === 0 ? null : valueOf(row) / previous,
      };
    });
}

const duration = (ms: number | null) => (ms === null ? "–" : formatDuration(ms));
const percentile = (ms: number | null) => (ms === null ? "–" : formatPercentile(ms));
const percent = (part: number) => `${(part * 100).toFixed(part > 0 && part < 0.1 ? 1 : 0)}%`;

function formatErrors({ errors, errorRate }: BreakdownRow): string {
  return percent(errorRate) + (errors > 0 ? ` (${formatCount(errors)})` : "");
}

function formatShare({ share }: BreakdownRow): string {
  return percent(share);
}

function formatChange({ change }: BreakdownRow): string {
  if (change === null) return "new";
  if (change > 10) return ">10×";
  const points = Math.round((change - 1) * 100);
  return points === 0 ? "0%" : `${points > 0 ? "+" : "−"}${Math.abs(points)}%`;
}

type NumberColumn = [
  name: Exclude<keyof BreakdownRow, "key" | "name">,
  title: string,
  hint: string,
  text: (row: BreakdownRow) => string,
  from?: "medium" | "widest",
];

const numbers: NumberColumn[] = [
  ["requests", "Requests", "All requests", (row) => formatCount(row.requests)],
  ["errorRate", "Errors", "Failed and interrupted requests", formatErrors, "medium"],
  ["p50", "p50", "Estimated median duration of successful requests", (row) => percentile(row.p50), "widest"],
  ["p95", "p95", "Estimated p95 duration of successful requests", (row) => percentile(row.p95), "medium"],
  ["ttft", "TTFT", "Median time to first token", (row) => duration(row.ttft), "widest"],
  ["input", "Input", "Input tokens", (row) => formatCompact(row.input), "widest"],
  ["cached", "Cached", "Cached input tokens", (row) => formatCompact(row.cached), "widest"],
  ["output", "Output", "Output tokens", (row) => formatCompact(row.output), "widest"],
  ["cost", "Cost", "Cost of priced requests", (row) => formatCostSum(row.cost, row.unpriced)],
  ["unpriced", "Unpriced", "Unpriced requests", (row) => formatCount(row.unpriced), "widest"],
  ["share", "Share", "Share of the cost, or of requests if all are unpriced", formatShare, "medium"],
  ["change", "Change", "Change from the previous period", formatChange, "widest"],
];

export const nameSort: Sort<BreakdownRow> = { name: "name", by: ({ name }) => name };

/** The columns after the name. */
export const columns: Column<BreakdownRow>[] = numbers.map(([name, title, hint, text, from]) => ({
  title,
  hint,
  text,
  from,
  numeric: true,
  sort: { name, by: (row: BreakdownRow) => row[name] },
}));

export const csvColumns: CsvColumn<BreakdownRow>[] = [
  ["id", ({ key }) => key],
  ["name", ({ name }) => name],
  ["requests", ({ requests }) => requests],
  ["error_rate", ({ errorRate }) => errorRate],
  ["p50_duration_ms", ({ p50 }) => p50],
  ["p95_duration_ms", ({ p95 }) => p95],
  ["p50_time_to_first_token_ms", ({ ttft }) => ttft],
  ["input_tokens", ({ input }) => input],
  ["cached_input_tokens", ({ cached }) => cached],
  ["output_tokens", ({ output }) => output],
  ["cost_usd", ({ cost }) => cost],
  ["unpriced_requests", ({ unpriced }) => unpriced],
  ["share", ({ share }) => share],
  ["change", ({ change }) => change],
  // New columns come last, because scripts may address columns by position.
  ["charge_usd", ({ charge }) => charge],
];
