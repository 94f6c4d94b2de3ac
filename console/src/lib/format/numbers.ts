import { lazy } from "./lazy.ts";

const whole = lazy(() => new Intl.NumberFormat("en"));
const compact = lazy(() => new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }));

/** Formats 1234567 as "1,234,567". */
export function formatCount(count: number): string {
  return whole().format(count);
}

/** Returns text such as "1 request" or "1,234 requests". */
export function formatCountOf(count: number, thing: string): string {
  return `${formatCount(count)} ${thing}${count === 1 ? "" : "s"}`;
}

/** Formats 1234567 as "1.2M". */
export function formatCompact(count: number): string {
  return compact().format(count);
}

/** US dollars with cents. Small amounts get more decimals, because "$0.00" would look free. */
export function formatDollars(dollars: number): string {
  const size = Math.abs(dollars);
  return toDollars(dollars, size === 0 || size >= 1 ? 2 : size >= 0.01 ? 4 : size >= 0.000_001 ? 6 : 9);
}

/** US dollars with all stored digits, to a billionth: "$1.375" */
export function formatExactDollars(dollars: number): string {
  return toDollars(dollars, 9);
}

function toDollars(dollars: number, maximumFractionDigits: number): string {
  return new Intl.NumberFormat("en", {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: 2,
    maximumFractionDigits,
  }).format(dollars);
}

/** Percentiles are estimates from buckets. The first bucket ends at 250 ms, so a smaller estimate says little. */
export function formatPercentile(milliseconds: number): string {
  return milliseconds < 250 ? "< 250 ms" : formatDuration(milliseconds);
}

/** Returns text such as "340 ms", "1.2 s" or "2 min 5 s". */
export function formatDuration(milliseconds: number): string {
  // The rounded value selects the unit, to avoid "1000 ms" and "60.0 s".
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  const tenths = Math.round(milliseconds / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
