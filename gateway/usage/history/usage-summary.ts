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
 * Sums of usage by dimension and interval, in UTC. They equal the sums of the filtered records to the millisecond.
 * Without dimensions and interval there is always one row.
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

/** Keys have their current names. Deleted ones keep an earlier name. */
async function nameKeys(apiKeys: Repositories["apiKeys"], rows: UsageSum[]): Promise<void> {
  const ids = new Set(rows.flatMap(({ apiKeyId }) => apiKeyId ?? []));
  const names = await apiKeys.names([...ids]);
  for (const row of rows) row.apiKeyName = names.get(row.apiKeyId ?? "") ?? row.apiKeyName;
}

/** Oldest first. Within an interval, most requests first. */
function inOrder(one: UsageSum, other: UsageSum): number {
  return (one.startsAt?.getTime() ?? 0) - (other.startsAt?.getTime() ?? 0) || other.requests - one.requests;
}

function tooManyRows(rowsMax: number): GatewayError {
  return new GatewayError(
    "invalid_value",
    `The summary would have more than ${rowsMax} rows. Use a shorter period, a longer interval or fewer dimensions.`,
  );
}

/** A part of a period and its source: roll-ups for whole hours or days, otherwise records. */
type PeriodPart =
  | { of: "records"; from: Date; to: Date }
  /** A null bound means that the period is open. */
  | { of: "hour" | "day"; from: Date | null; to: Date | null };

type Period = { from?: Date | undefined; to?: Date | undefined };

/**
 * Splits the period `from` ≤ time < `to` into parts with cheap sums: days in the middle, hours around them, and records
 * at both ends. Hourly sums use no days.
 */
function splitPeriod({ from, to }: Period, byHour: boolean): PeriodPart[] {
  // An empty part, so that a query for one row returns zeros.
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
