const whole = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** "1,234,567" */
export function formatCount(count: number): string {
  return whole.format(count);
}

/** "1 request", "1,234 requests" */
export function formatCountOf(count: number, thing: string): string {
  return `${formatCount(count)} ${thing}${count === 1 ? "" : "s"}`;
}

/** "1.2M", for where there is little room. */
export function formatCompact(count: number): string {
  return compact.format(count);
}

/** US dollars: cents where they say enough, up to six decimals where they do not, so that small costs do not look free. */
export function formatDollars(dollars: number): string {
  const size = Math.abs(dollars);
  const maximumFractionDigits = size === 0 || size >= 1 ? 2 : size >= 0.01 ? 4 : 6;
  return new Intl.NumberFormat("en", {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: 2,
    maximumFractionDigits,
  }).format(dollars);
}

/** "340 ms", "1.2 s", "2 min 5 s" */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
