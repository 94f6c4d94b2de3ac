import type { CsvColumn } from "#lib/csv.ts";
import { formatCompact, formatCount, formatDuration, formatPercentile } from "#lib/format/numbers.ts";
import { formatCostSum } from "./format-cost.ts";
import type { UsageDimension } from "#lib/session/graphql-document.ts";
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

export type BreakdownColumn = {
  name: Exclude<keyof BreakdownRow, "key" | "name">;
  title: string;
  hint: string;
  format: (row: BreakdownRow) => string;
  /** A second line in the cell. Narrow screens show it instead of the value's own column. */
  note?: (row: BreakdownRow) => string;
  /** The narrowest screen that shows the column. */
  from: "all" | "medium" | "wide";
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

function formatChange({ change }: BreakdownRow): string {
  if (change === null) return "new";
  if (change > 10) return ">10×";
  const points = Math.round((change - 1) * 100);
  return points === 0 ? "0%" : `${points > 0 ? "+" : "−"}${Math.abs(points)}%`;
}

export const columns: BreakdownColumn[] = [
  {
    name: "requests",
    title: "Requests",
    hint: "All requests",
    format: (row) => formatCount(row.requests),
    from: "all",
  },
  {
    name: "errorRate",
    title: "Errors",
    hint: "Failed and interrupted requests",
    format: (row) => percent(row.errorRate) + (row.errors > 0 ? ` (${formatCount(row.errors)})` : ""),
    from: "medium",
  },
  {
    name: "p50",
    title: "p50",
    hint: "Estimated median duration of successful requests",
    format: (row) => percentile(row.p50),
    from: "wide",
  },
  {
    name: "p95",
    title: "p95",
    hint: "Estimated p95 duration of successful requests",
    format: (row) => percentile(row.p95),
    from: "medium",
  },
  {
    name: "ttft",
    title: "TTFT",
    hint: "Median time to first token",
    format: (row) => duration(row.ttft),
    from: "wide",
  },
  {
    name: "input",
    title: "Input",
    hint: "Input tokens",
    format: (row) => formatCompact(row.input),
    from: "wide",
  },
  {
    name: "cached",
    title: "Cached",
    hint: "Cached input tokens",
    format: (row) => formatCompact(row.cached),
    from: "wide",
  },
  {
    name: "output",
    title: "Output",
    hint: "Output tokens",
    format: (row) => formatCompact(row.output),
    from: "wide",
  },
  {
    name: "cost",
    title: "Cost",
    hint: "Cost of priced requests",
    format: (row) => formatCostSum(row.cost, row.unpriced),
    note: (row) => (row.cost && row.unpriced > 0 ? `+ ${formatCount(row.unpriced)} unpriced` : ""),
    from: "all",
  },
  {
    name: "unpriced",
    title: "Unpriced",
    hint: "Unpriced requests",
    format: (row) => formatCount(row.unpriced),
    from: "wide",
  },
  {
    name: "share",
    title: "Share",
    hint: "Share of the cost, or of requests if all are unpriced",
    format: (row) => percent(row.share),
    from: "medium",
  },
  {
    name: "change",
    title: "Change",
    hint: "Change from the previous period",
    format: formatChange,
    from: "wide",
  },
];

/**
 * Numbers sort in descending order with unknown values last, and names in ascending order. `isReversed`
 * reverses both.
 */
export function sortRows(rows: BreakdownRow[], by: string, isReversed: boolean): BreakdownRow[] {
  const column = columns.find(({ name }) => name === by);
  const sorted = rows.toSorted((one, other) =>
    column ? (other[column.name] ?? -1) - (one[column.name] ?? -1) : one.name.localeCompare(other.name),
  );
  return isReversed ? sorted.reverse() : sorted;
}

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
