import type { Repositories } from "../../../db/database.ts";
import type { UsageDimension, UsageFilter, UsageInterval } from "../../../db/repositories/usage-queries.ts";
import type { UsageSum } from "../../../db/repositories/usage-sum.ts";
import { GatewayError } from "../../errors.ts";
import { firstIdAt } from "../../ids.ts";
import { addSums } from "./add-sums.ts";
import { type Period, type PeriodPart, splitPeriod } from "./split-period.ts";

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
