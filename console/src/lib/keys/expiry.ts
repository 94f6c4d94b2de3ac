const dayMs = 24 * 60 * 60 * 1000;

/**
 * Milliseconds since 1970. Null means never.
 * @param choice "never", or a number of days
 */
export function expiryOf(choice: string, now: number): number | null {
  return choice === "never" ? null : now + Number(choice) * dayMs;
}

/**
 * The end of a day in the browser's time zone, in milliseconds since 1970.
 * @param date such as 2027-01-31. Any other format returns null.
 */
export function endOf(date: string): number | null {
  const [, year, month, day] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(date) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return null;
  return new Date(year, month - 1, day, 23, 59, 59, 999).getTime();
}

/** Whether a time is the end of a day in the browser's time zone, within a second. */
export function isEndOfDay(time: number): boolean {
  return Math.abs(time - (endOf(toDateText(time)) ?? 0)) < 1_000;
}

/** The day of a time in the browser's time zone, such as 2027-01-31. */
export function toDateText(time: number): string {
  const date = new Date(time);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
