import type { ResultOf } from "gql.tada";
import { graphql, type UsageDimension } from "#lib/session/graphql-document.ts";
import { askGraphql } from "#lib/session/graphql.ts";
import type { UsageFilter, UsageInterval } from "./usage-filter.ts";
import { usageGroupFields } from "./usage-groups.ts";

const usageSummaryDocument = graphql(
  `
    query UsageSummary($filter: UsageFilter, $groupBy: [UsageDimension!]!, $interval: UsageInterval) {
      usageSummary(filter: $filter, groupBy: $groupBy, interval: $interval) {
        interval
        ...UsageGroup
        requests
        failed
        inputTokens
        outputTokens
        costUsd
        unknownCosts
      }
    }
  `,
  [usageGroupFields],
);

const usageBreakdownDocument = graphql(
  `
    query UsageBreakdown($filter: UsageFilter, $before: UsageFilter, $groupBy: [UsageDimension!]!) {
      current: usageSummary(filter: $filter, groupBy: $groupBy) {
        ...UsageGroup
        requests
        failed
        interrupted
        p50DurationMs
        p95DurationMs
        p50TimeToFirstTokenMs
        inputTokens
        cachedInputTokens
        outputTokens
        costUsd
        chargeUsd
        unknownCosts
      }
      before: usageSummary(filter: $before, groupBy: $groupBy) {
        ...UsageGroup
        requests
        costUsd
      }
    }
  `,
  [usageGroupFields],
);

/** The sums of a group, optionally per interval. BigInt and Decimal values are strings. */
export type UsageSummaryRow = ResultOf<typeof usageSummaryDocument>["usageSummary"][number];

type Breakdown = ResultOf<typeof usageBreakdownDocument>;

export type UsageTotalsRow = Breakdown["current"][number];

/** The sums of a group in the previous period. */
export type UsageBeforeRow = Breakdown["before"][number];

export async function summarizeUsage(
  filter: UsageFilter,
  groupBy: UsageDimension[],
  interval: UsageInterval | null,
): Promise<UsageSummaryRow[]> {
  const variables = { filter, groupBy, interval };
  const answer = await askGraphql(usageSummaryDocument, variables);
  return answer.usageSummary;
}

/** Reads the groups of a period, and of the previous period of the same length. */
export function readBreakdown(
  filter: UsageFilter,
  dimension: UsageDimension,
): Promise<{ current: UsageTotalsRow[]; before: UsageBeforeRow[] }> {
  const [from, to] = [Date.parse(filter.from), Date.parse(filter.to)];
  const before = { ...filter, from: new Date(from - (to - from)).toISOString(), to: filter.from };
  return askGraphql(usageBreakdownDocument, { filter, before, groupBy: [dimension] });
}
