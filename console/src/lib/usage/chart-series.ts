import type { UsageDimension } from "#lib/session/graphql-document.ts";
import type { UsageSummaryRow } from "./summarize-usage.ts";
import { groupOf } from "./usage-groups.ts";

export type UsageMetric = "requests" | "tokens" | "cost";

export type ChartSeries = { key: string; label: string; color: string };
/** A stacked bar: the start of its interval, and the value of each series by key. */
export type ChartPoint = { at: Date } & Record<string, number | Date>;

/** Colors that color-blind users can distinguish, mostly from the palette of Okabe and Ito. */
const colors = ["#4f6bed", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7fdc"];
const gray = "#7f7f7f";
const statusColors = new Map([
  ["SUCCEEDED", "#009e73"],
  ["FAILED", "#d55e00"],
  ["CANCELLED", "#e69f00"],
  ["INTERRUPTED", gray],
]);
const seriesMax = colors.length + 1;

export function valueOf(row: UsageSummaryRow, metric: UsageMetric): number {
  if (metric === "requests") return row.requests;
  return metric === "tokens" ? Number(row.inputTokens) + Number(row.outputTokens) : Number(row.costUsd ?? 0);
}

type ChartOptions = {
  dimension: UsageDimension;
  metric: UsageMetric;
  intervals: Date[];
  /** The known values of the dimension, oldest first, with or without usage. The index selects the color. */
  known: string[];
};

/** Returns one series per large group, one series for all other groups, and a point for every interval. */
export function toChart(
  all: UsageSummaryRow[],
  { dimension, metric, intervals, known }: ChartOptions,
): { series: ChartSeries[]; points: ChartPoint[] } {
  // Requests without errors would dwarf the errors.
  const rows = dimension === "ERROR_REASON" ? all.filter(({ errorReason }) => errorReason !== "") : all;
  const totals = new Map<string, { label: string; total: number }>();
  for (const row of rows) {
    const { key, label } = groupOf(row, dimension);
    const group = totals.get(key) ?? { label, total: 0 };
    group.total += valueOf(row, metric);
    totals.set(key, group);
  }
  const groups = [...totals].toSorted(([, left], [, right]) => right.total - left.total);
  const own = groups.slice(0, groups.length > seriesMax ? seriesMax - 1 : seriesMax);
  // Generated keys never collide with the members `at` and `others`.
  const keyOf = new Map(own.map(([group], index) => [group, `group${index}`]));
  const names = own.map(([group]) => group);
  const colorOf = dimension === "STATUS" ? statusColors : chooseColors(names, known);
  const series = own.map(([group, { label }], index) => ({
    key: `group${index}`,
    label,
    color: colorOf.get(group) ?? gray,
  }));
  if (own.length < groups.length) {
    series.push({ key: "others", label: `${groups.length - own.length} others`, color: gray });
  }
  const empty = Object.fromEntries(series.map(({ key }) => [key, 0]));
  const points = new Map(intervals.map((at) => [at.getTime(), { ...empty, at } as ChartPoint]));
  for (const row of rows) {
    const point = row.interval === null ? undefined : points.get(new Date(row.interval).getTime());
    if (!point) continue;
    const key = keyOf.get(groupOf(row, dimension).key) ?? "others";
    point[key] = Number(point[key] ?? 0) + valueOf(row, metric);
  }
  return { series, points: [...points.values()] };
}

/**
 * A known name has the same color on every page, unless a larger group uses that color. The remaining names get the
 * free colors while any are left.
 * @param names the largest group first
 */
function chooseColors(names: string[], known: string[]): Map<string, string> {
  const free = new Set(colors);
  const chosen = new Map<string, string>();
  for (const name of names) {
    const own = colors[known.indexOf(name) % colors.length];
    if (own !== undefined && free.delete(own)) chosen.set(name, own);
  }
  for (const name of names.filter((each) => !chosen.has(each))) {
    const [next] = free;
    if (next === undefined) break;
    free.delete(next);
    chosen.set(name, next);
  }
  return chosen;
}
