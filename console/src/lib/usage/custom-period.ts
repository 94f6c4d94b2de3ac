import { toDateText } from "#lib/keys/expiry.ts";

/** The first and the last day, as date fields have them: 2026-11-21. */
export type Days = { from: string; to: string };

/** What is wrong with days that somebody chose, and in which field. */
export type DaysProblem = { field: keyof Days; message: string };

const yearsMax = 3;

/** In milliseconds since 1970, where this browser is; the last day is a part of it. */
export function toTimes({ from, to }: Days): { from: number; to: number } {
  return { from: startOfDay(from) ?? NaN, to: startOfDay(to, { days: 1 }) ?? NaN };
}

/** Null where they are days of which the usage history can be asked. */
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

/** When a day begins where this browser is, or one so much later; null for what is no day, such as February 30. */
function startOfDay(text: string, { years = 0, days = 0 } = {}): number | null {
  const [, year, month, day] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return null;
  if (toDateText(new Date(year, month - 1, day).getTime()) !== text) return null;
  return new Date(year + years, month - 1, day + days).getTime();
}
