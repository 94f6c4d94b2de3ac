/** ISO 8601, or a date as its start in UTC. Null if invalid: `Date` would read 31 February as 3 March. */
export function parseMoment(text: string): Date | null {
  const day = text.slice(0, "2026-11-21".length);
  const moment = new Date(text);
  return isDay(day) && !Number.isNaN(moment.getTime()) ? moment : null;
}

function isDay(text: string): boolean {
  const midnight = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
}
