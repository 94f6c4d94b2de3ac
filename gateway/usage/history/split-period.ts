/** A part of a period, and what has its sums: roll-ups where it is made of whole hours or days, else the records. */
export type PeriodPart =
  | { of: "records"; from: Date; to: Date }
  /** Null is without an end. */
  | { of: "hour" | "day"; from: Date | null; to: Date | null };

export type Period = { from?: Date | undefined; to?: Date | undefined };

/**
 * Cuts the period `from` ≤ … < `to` into parts whose sums are cheap: days in the middle, hours up to them, and records for
 * what is left of the first and the last hour. Where sums are wanted by the hour there are no days.
 */
export function splitPeriod({ from, to }: Period, byHour: boolean): PeriodPart[] {
  // Nothing, but something to sum: where one row is wanted, it is there with zeros.
  if (from && to && from >= to) return [{ of: "records", from, to }];
  const firstHour = from && ceiling(from, hourMs);
  const lastHour = to && floor(to, hourMs);
  if (from && to && firstHour && lastHour && firstHour > lastHour)
    return notEmpty([{ of: "records", from, to }]);
  const parts: PeriodPart[] = [];
  if (from && firstHour) parts.push({ of: "records", from, to: firstHour });
  parts.push(...splitHours(firstHour ?? null, lastHour ?? null, byHour));
  if (to && lastHour) parts.push({ of: "records", from: lastHour, to });
  return notEmpty(parts);
}

function splitHours(from: Date | null, to: Date | null, byHour: boolean): PeriodPart[] {
  const firstDay = from && ceiling(from, dayMs);
  const lastDay = to && floor(to, dayMs);
  if (byHour || (firstDay && lastDay && firstDay >= lastDay)) return [{ of: "hour", from, to }];
  return [
    ...(firstDay ? [{ of: "hour", from, to: firstDay } as const] : []),
    { of: "day", from: firstDay, to: lastDay },
    ...(lastDay ? [{ of: "hour", from: lastDay, to } as const] : []),
  ];
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

function floor(moment: Date, lengthMs: number): Date {
  return new Date(Math.floor(moment.getTime() / lengthMs) * lengthMs);
}

function ceiling(moment: Date, lengthMs: number): Date {
  return new Date(Math.ceil(moment.getTime() / lengthMs) * lengthMs);
}

function notEmpty(parts: PeriodPart[]): PeriodPart[] {
  return parts.filter(({ from, to }) => from === null || to === null || from < to);
}
