/**
 * Parses an ISO 8601 moment, or a day (its start in UTC), with a four-digit year. Null for an invalid one. JavaScript's
 * parser reads 31 February as 3 March.
 */
export function parseMoment(text: string): Date | null {
  const day = text.slice(0, "2026-11-21".length);
  const moment = new Date(text);
  return isDay(day) && !Number.isNaN(moment.getTime()) ? moment : null;
}

function isDay(text: string): boolean {
  const midnight = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
}
