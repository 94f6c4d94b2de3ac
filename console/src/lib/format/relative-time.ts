import { lazy } from "./lazy.ts";

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * 24 * 3600],
  ["month", 30 * 24 * 3600],
  ["week", 7 * 24 * 3600],
  ["day", 24 * 3600],
  ["hour", 3600],
  ["minute", 60],
];

const day = 24 * 3600;
/** Future times below this limit are never shown in weeks or months, to match expiries such as "In 90 days". */
const daysMax = 91;

const relative = lazy(() => new Intl.RelativeTimeFormat("en", { numeric: "auto" }));
/** A 24-hour clock, to match "00:00 UTC" in the text about budgets. */
export const dayTime = { hourCycle: "h23" } as const;
const moment = lazy(
  () =>
    new Intl.DateTimeFormat("en", {
      month: "short",
      day: "numeric",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      ...dayTime,
    }),
);
const exact = lazy(
  () => new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "long", ...dayTime }),
);

/** Returns text such as "5 minutes ago" or "in 30 days". Times are milliseconds since 1970. */
export function formatRelativeTime(time: number, now: number): string {
  const seconds = Math.round((time - now) / 1000);
  // Truncation would show a new expiry in 30 days as "in 29 days".
  if (seconds >= day && seconds < daysMax * day) return relative().format(Math.round(seconds / day), "day");
  for (const [unit, size] of steps) {
    if (Math.abs(seconds) >= size) return relative().format(Math.trunc(seconds / size), unit);
  }
  return "just now";
}

/** Returns text such as "Nov 21, 17:41:03". */
export function formatMoment(time: number): string {
  return moment().format(time);
}

/** Returns text such as "Nov 21, 2026, 17:41:03 GMT+1". */
export function formatExactTime(time: number): string {
  return exact().format(time);
}
