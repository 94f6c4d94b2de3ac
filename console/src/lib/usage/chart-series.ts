import type { UsageDimension, UsageSummaryRow } from "./summarize-usage.ts";

export type UsageMetric = "requests" | "tokens" | "cost";

export type ChartSeries = { key: string; label: string; color: string };
/** One bar: where it stands, and the value of each series by its key. */
export type ChartPoint = { at: Date } & Record<string, number | Date>;

/** Colours that can be told apart by people who do not see all colours, in light and in dark (Okabe and Ito). */
const colors = ["#4f6bed", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7fdc", "#7f7f7f"];
const statusColors: Record<string, string> = {
  SUCCEEDED: "#009e73",
  FAILED: "#d55e00",
  CANCELLED: "#e69f00",
  INTERRUPTED: "#7f7f7f",
};

export function valueOf(row: UsageSummaryRow, metric: UsageMetric): number {
  if (metric === "requests") return row.requests;
  return metric === "tokens" ? Number(row.inputTokens) + Number(row.outputTokens) : Number(row.costUsd ?? 0);
}

/** The largest groups as series of their own, what is left as one; and a point for every interval, used or not. */
export function toChart(
  rows: UsageSummaryRow[],
  { dimension, metric, intervals }: { dimension: UsageDimension; metric: UsageMetric; intervals: Date[] },
): { series: ChartSeries[]; points: ChartPoint[] } {
  const totals = new Map<string, { label: string; total: number }>();
  for (const row of rows) {
    const { key, label } = groupOf(row, dimension);
    const group = totals.get(key) ?? { label, total: 0 };
    group.total += valueOf(row, metric);
    totals.set(key, group);
  }
  const groups = [...totals].toSorted(([, left], [, right]) => right.total - left.total);
  const own = groups.slice(0, groups.length > colors.length ? colors.length - 1 : colors.length);
  // Keys of series are made up here: names of models may hold anything, and charts read paths into keys.
  const keyOf = new Map(own.map(([group], place) => [group, `group${place}`]));
  const series = own.map(([group, { label }], place) => ({
    key: `group${place}`,
    label,
    color: statusColors[group] ?? colors[place] ?? "#7f7f7f",
  }));
  if (own.length < groups.length) {
    series.push({ key: "others", label: `${groups.length - own.length} others`, color: "#7f7f7f" });
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

function groupOf(row: UsageSummaryRow, dimension: UsageDimension): { key: string; label: string } {
  if (dimension === "API_KEY")
    return { key: row.apiKeyId ?? "", label: row.apiKeyName ?? row.apiKeyId ?? "" };
  const value = { MODEL: row.model, PROVIDER: row.provider, STATUS: row.status }[dimension] ?? "";
  return { key: value, label: value || "none" };
}
