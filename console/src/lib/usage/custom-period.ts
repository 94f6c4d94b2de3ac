import { toDateText } from "#lib/keys/expiry.ts";

/** The first and last day, in the format of date fields: 2026-11-21. */
export type Days = { from: string; to: string };

/** A problem with the selected days, and its field. */
export type DaysProblem = { field: keyof Days; message: string };

const yearsMax = 3;

/** In milliseconds since 1970, in the browser's time zone. The last day is inclusive. */
export function toTimes({ from, to }: Days): { from: number; to: number } {
  return { from: startOfDay(from) ?? NaN, to: startOfDay(to, { days: 1 }) ?? NaN };
}

/** Null for days that the usage history can be queried for. */
export function findProblem(days: Days, now: number): DaysProblem | null {
  const [from, to] = [startOfDay(days.from), startOfDay(days.to)];
  if (from === null) return { field: "from", message: "Choose a start date." };
  if (to === null) return { field: "to", message: "Choose an end date." };
  if (from > now) return { field: "from", message: "Start date is in the future." };
  if (to < from) return { field: "to", message: "End date is before the start date." };
  const latest = startOfDay(days.from, { years: yearsMax }) ?? 0;
  if (to >= latest) return { field: "to", message: `Choose at most ${yearsMax} years.` };
  return null;
}

/**
 * The start of a day in the browser's time zone, or later by an offset. Null for an invalid day, such as February 30.
 */
function startOfDay(text: string, { years = 0, days = 0 } = {}): number | null {
  const [, year, month, day] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return null;
  if (toDateText(new Date(year, month - 1, day).getTime()) !== text) return null;
  return new Date(year + years, month - 1, day + days).getTime();
}
