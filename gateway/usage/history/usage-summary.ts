import type { Repositories } from "../../../db/database.ts";
import type { UsageDimension, UsageFilter, UsageInterval } from "../../../db/repositories/usage-queries.ts";
import type { UsageSum } from "../../../db/repositories/usage-sum.ts";
import { GatewayError } from "../../errors.ts";
import { firstIdAt } from "../../ids.ts";
import { addSums } from "./add-sums.ts";

export type UsageSummaryQuery = {
  filter: UsageFilter;
  period: Period;
  groupBy: readonly UsageDimension[];
  interval: UsageInterval | null;
};

type SummaryLimits = { usageQueryTimeoutMs: number; usageSummaryRowsMax: number };

/**
 * Sums of usage by dimension and interval (in UTC), exact to the millisecond: equal to the sums of the records that a page
 * with the same filter shows. Without dimensions and interval there is one row, even where there is nothing.
 */
export async function summarizeUsage(
  { usageRollUps, apiKeys }: Repositories,
  { filter, period, groupBy, interval }: UsageSummaryQuery,
  limits: SummaryLimits,
): Promise<UsageSum[]> {
  const rows = new Map<string, UsageSum>();
  for (const part of splitPeriod(period, interval === "hour")) {
    const query = { filter, groupBy, interval, of: summed(part), rowsMax: limits.usageSummaryRowsMax + 1 };
    for (const sum of await usageRollUps.sum(query, limits.usageQueryTimeoutMs)) {
      const key = [sum.startsAt?.getTime(), ...groupBy.map((dimension) => sum[dimension])].join("\n");
      const other = rows.get(key);
      rows.set(key, other ? addSums(other, sum) : sum);
    }
    if (rows.size > limits.usageSummaryRowsMax) throw tooManyRows(limits.usageSummaryRowsMax);
  }
  if (groupBy.includes("apiKeyId")) await nameKeys(apiKeys, [...rows.values()]);
  return [...rows.values()].toSorted(inOrder);
}

function summed(part: PeriodPart) {
  if (part.of !== "records") return { resolution: part.of, from: part.from, to: part.to };
  return {
    fromId: firstIdAt("req", part.from.getTime()),
    beforeId: firstIdAt("req", part.to.getTime()),
  };
}

/** As keys are called today; one that is gone keeps a name that it had. */
async function nameKeys(apiKeys: Repositories["apiKeys"], rows: UsageSum[]): Promise<void> {
  const ids = new Set(rows.flatMap(({ apiKeyId }) => apiKeyId ?? []));
  const names = await apiKeys.names([...ids]);
  for (const row of rows) row.apiKeyName = names.get(row.apiKeyId ?? "") ?? row.apiKeyName;
}

/** Oldest first, and within an interval what was asked most. */
function inOrder(one: UsageSum, other: UsageSum): number {
  return (one.startsAt?.getTime() ?? 0) - (other.startsAt?.getTime() ?? 0) || other.requests - one.requests;
}

function tooManyRows(rowsMax: number): GatewayError {
  return new GatewayError(
    "invalid_value",
    `The summary would have more than ${rowsMax} rows. Ask for a shorter time, a longer interval or fewer dimensions.`,
  );
}

/** A part of a period, and what has its sums: roll-ups where it is made of whole hours or days, else the records. */
type PeriodPart =
  | { of: "records"; from: Date; to: Date }
  /** Null is without an end. */
  | { of: "hour" | "day"; from: Date | null; to: Date | null };

type Period = { from?: Date | undefined; to?: Date | undefined };

/**
 * Cuts the period `from` ≤ … < `to` into parts whose sums are cheap: days in the middle, hours up to them, and records for
 * what is left of the first and the last hour. Where sums are wanted by the hour there are no days.
 */
function splitPeriod({ from, to }: Period, byHour: boolean): PeriodPart[] {
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
