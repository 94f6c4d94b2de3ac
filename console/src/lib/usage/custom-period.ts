/** The start and the end of a period, as a day or a minute: 2026-11-21 or 2026-11-21T15:00. */
export type Days = { from: string; to: string };

export type DaysProblem = { field: keyof Days; message: string };

export type Zone = "local" | "utc";

const yearsMax = 3;

/** Milliseconds since 1970, or NaN for an invalid date. An end day is inclusive, and an end minute exclusive. */
export function toTimes({ from, to }: Days, zone: Zone): { from: number; to: number } {
  const days = to.includes("T") ? 0 : 1;
  return { from: startOf(from, zone) ?? NaN, to: startOf(to, zone, { days }) ?? NaN };
}

export function findProblem(days: Days, now: number, zone: Zone): DaysProblem | null {
  const [from, to] = [startOf(days.from, zone), startOf(days.to, zone)];
  if (from === null)
    return { field: "from", message: "The start date is missing or invalid. Choose a date." };
  if (to === null) return { field: "to", message: "The end date is missing or invalid. Choose a date." };
  if (from > now)
    return {
      field: "from",
      message: `The start date ${written(days.from)} is in the future. Choose an earlier date.`,
    };
  if (toTimes(days, zone).to <= from)
    return {
      field: "to",
      message: `The end ${written(days.to)} is not after the start. Choose a later end.`,
    };
  const latest = startOf(days.from, zone, { years: yearsMax }) ?? 0;
  if (to >= latest)
    return { field: "to", message: `The period is longer than ${yearsMax} years. Choose a shorter period.` };
  return null;
}

/** Formats a minute as in the fields: 2026-11-21 15:00. */
const written = (moment: string) => moment.replace("T", " ");

/** A time in the page's zone, to the minute: 2026-11-21T15:00. */
export function toMinuteText(time: number, zone: Zone): string {
  const offsetMs = zone === "utc" ? 0 : new Date(time).getTimezoneOffset() * 60_000;
  return new Date(time - offsetMs).toISOString().slice(0, "2026-11-21T15:00".length);
}

/**
 * The start of a day or minute in the page's zone, plus an offset. Null for an invalid date, such as February
 * 30.
 */
function startOf(text: string, zone: Zone, { years = 0, days = 0 } = {}): number | null {
  const parts = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d))?$/.exec(text) ?? [];
  const [year, month, day, hour = 0, minute = 0] = parts.slice(1).map((part) => Number(part || 0));
  if (year === undefined || month === undefined || day === undefined) return null;
  const at = (moreYears: number, moreDays: number) =>
    zone === "utc"
      ? Date.UTC(year + moreYears, month - 1, day + moreDays, hour, minute)
      : new Date(year + moreYears, month - 1, day + moreDays, hour, minute).getTime();
  if (Number.isNaN(at(0, 0)) || !isSame(new Date(at(0, 0)), { year, month, day }, zone)) return null;
  return at(years, days);
}

function isSame(moment: Date, expected: { year: number; month: number; day: number }, zone: Zone): boolean {
  const isUtc = zone === "utc";
  return (
    (isUtc ? moment.getUTCFullYear() : moment.getFullYear()) === expected.year &&
    (isUtc ? moment.getUTCMonth() : moment.getMonth()) === expected.month - 1 &&
    (isUtc ? moment.getUTCDate() : moment.getDate()) === expected.day
  );
}
