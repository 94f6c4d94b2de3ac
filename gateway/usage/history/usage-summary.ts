import type { Repositories } from "../../../db/database.ts";
import { countNames, type UsageDimension, type UsageStatus } from "../../../db/entities/usage-record.ts";
import type { UsageFilter } from "../../../db/repositories/usage-filter.ts";
import type { UsageInterval } from "../../../db/repositories/usage-queries.ts";
import { toUsageSum, type UsageSum } from "../../../db/repositories/usage-sum.ts";
import { GatewayError } from "../../errors.ts";
import { firstIdAt } from "../../ids.ts";
import { inTurns } from "../../next-turn.ts";

type UsageSummaryQuery = {
  filter: UsageFilter;
  period: Period;
  groupBy: readonly UsageDimension[];
  interval: UsageInterval | null;
  /** Skips `latencies` and `firstTokens`: their counts are then 0. */
  isWithoutTimes?: boolean;
};

type SummaryLimits = { usageQueryTimeoutMs: number; usageSummaryRowsMax: number };

export type UsageSummary = UsageSum & {
  outcomes: Record<UsageStatus, number>;
  /** `latencies` of the successful requests. */
  durations: number[];
  /** The owner's current name. Undefined for a deleted owner, and without an owner. */
  ownerName?: string | undefined;
  /** The team's current name. Undefined without a team. */
  teamName?: string | undefined;
};

/** Sums usage, in UTC. The period's bounds are exact. Without dimensions and interval, the result is one row. */
export async function summarizeUsage(
  repositories: Repositories,
  { filter, period, groupBy, interval, isWithoutTimes = false }: UsageSummaryQuery,
  { usageQueryTimeoutMs, usageSummaryRowsMax }: SummaryLimits,
): Promise<UsageSummary[]> {
  refuseRecordFacts(filter);
  // Grouping by status as well returns the outcomes in the same read.
  const summedBy = [...new Set([...groupBy, "status" as const])];
  const rowsMax = usageSummaryRowsMax * statusesMax + 1;
  const rows = new Map<string, UsageSummary>();
  for (const part of splitPeriod(period, interval === "hour")) {
    const query = { filter, groupBy: summedBy, interval, of: summed(part), rowsMax, isWithoutTimes };
    const sums = await repositories.usageRollUps.sum(query, usageQueryTimeoutMs);
    for await (const sum of inTurns(sums, sumsPerTurn)) {
      const key = [sum.startsAt?.getTime(), ...groupBy.map((dimension) => sum[dimension])].join("\n");
      const other = rows.get(key);
      rows.set(key, other ? addSummaries(other, toSummary(sum)) : toSummary(sum));
    }
    if (rows.size > usageSummaryRowsMax) throw tooManyRows(usageSummaryRowsMax);
  }
  if (groupBy.length === 0 && interval === null && rows.size === 0) rows.set("", toSummary(toUsageSum({})));
  const summaries = [...rows.values()];
  if (!groupBy.includes("status")) for (const row of summaries) row.status = undefined;
  if (groupBy.includes("apiKeyId")) await nameKeys(repositories, summaries);
  if (groupBy.includes("ownerId")) await nameOwners(repositories, summaries);
  if (groupBy.includes("teamId")) await nameTeams(repositories, summaries);
  return summaries.toSorted(inOrder);
}

const statusesMax = 4;
/** About 2 ms of work. */
const sumsPerTurn = 200;

function refuseRecordFacts({ httpStatusClass, minLatencyMs }: UsageFilter): void {
  const given = Object.entries({ httpStatusClass, minLatencyMs }).find(([, value]) => value !== undefined);
  if (!given) return;
  const [param] = given;
  const message = `usageSummary has no filter ${param}. Remove it, or use usageRecords.`;
  throw new GatewayError("invalid_value", message, { param });
}

function toSummary(sum: UsageSum): UsageSummary {
  const isSuccess = sum.status === "SUCCEEDED";
  const outcomes = { SUCCEEDED: 0, FAILED: 0, CANCELLED: 0, INTERRUPTED: 0 };
  if (sum.status) outcomes[sum.status] = sum.requests;
  return { ...sum, outcomes, durations: sum.latencies.map((count) => (isSuccess ? count : 0)) };
}

function addSummaries(one: UsageSummary, other: UsageSummary): UsageSummary {
  const outcomes = { ...one.outcomes };
  for (const [status, count] of Object.entries(other.outcomes)) outcomes[status as UsageStatus] += count;
  return { ...addSums(one, other), outcomes, durations: addCounts(one.durations, other.durations) };
}

function summed(part: PeriodPart) {
  if (part.of !== "records") return { resolution: part.of, from: part.from, to: part.to };
  return {
    fromId: firstIdAt("req", part.from.getTime()),
    beforeId: firstIdAt("req", part.to.getTime()),
  };
}

/** A deleted key keeps its recorded name. */
async function nameKeys({ apiKeys }: Repositories, rows: UsageSummary[]): Promise<void> {
  const names = await apiKeys.names([...new Set(rows.flatMap(({ apiKeyId }) => apiKeyId ?? []))]);
  for (const row of rows) row.apiKeyName = names.get(row.apiKeyId ?? "") ?? row.apiKeyName;
}

async function nameOwners({ users }: Repositories, rows: UsageSummary[]): Promise<void> {
  const names = await users.namesOf([...new Set(rows.flatMap(({ ownerId }) => ownerId || []))]);
  for (const row of rows) row.ownerName = names.get(row.ownerId ?? "");
}

async function nameTeams({ teams }: Repositories, rows: UsageSummary[]): Promise<void> {
  const names = await teams.namesOf([...new Set(rows.flatMap(({ teamId }) => teamId || []))]);
  for (const row of rows) row.teamName = names.get(row.teamId ?? "");
}

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
  /** A null bound means unbounded. */
  | { of: "hour" | "day"; from: Date | null; to: Date | null };

type Period = { from?: Date | undefined; to?: Date | undefined };

/**
 * Splits the period `from` ≤ time < `to` into parts with cheap sums: days in the middle, hours around them, and records
 * at both ends. Hourly sums use no days.
 */
function splitPeriod({ from, to }: Period, byHour: boolean): PeriodPart[] {
  const firstHour = from && ceiling(from, hourMs);
  const lastHour = to && floor(to, hourMs);
  if (from && to && firstHour && lastHour && (from >= to || firstHour > lastHour))
    return [{ of: "records", from, to }];
  const parts: PeriodPart[] = [];
  if (from && firstHour) parts.push({ of: "records", from, to: firstHour });
  parts.push(...splitHours(firstHour ?? null, lastHour ?? null, byHour));
  if (to && lastHour) parts.push({ of: "records", from: lastHour, to });
  return parts.filter((part) => part.from === null || part.to === null || part.from < part.to);
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

export function addSums(one: UsageSum, other: UsageSum): UsageSum {
  const sum = { ...one };
  for (const name of countNames) sum[name] += other[name];
  return {
    ...sum,
    requests: one.requests + other.requests,
    cost: one.cost + other.cost,
    markup: one.markup + other.markup,
    unknownCosts: one.unknownCosts + other.unknownCosts,
    latencyMs: one.latencyMs + other.latencyMs,
    latencies: addCounts(one.latencies, other.latencies),
    firstTokens: addCounts(one.firstTokens, other.firstTokens),
  };
}

function addCounts(one: readonly number[], other: readonly number[]): number[] {
  return one.map((count, index) => count + (other[index] ?? 0));
}
