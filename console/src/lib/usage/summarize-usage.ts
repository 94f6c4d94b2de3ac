import { askGraphql } from "#lib/session/graphql.ts";
import type { UsageStatus } from "./read-usage-record.ts";
import type { UsageFilter, UsageInterval } from "./usage-filter.ts";

const usageSummaryDocument = /* GraphQL */ `
  query UsageSummary($filter: UsageFilter, $groupBy: [UsageDimension!]!, $interval: UsageInterval) {
    usageSummary(filter: $filter, groupBy: $groupBy, interval: $interval) {
      interval
      apiKeyId
      apiKeyName
      model
      provider
      status
      ownerId
      ownerName
      clientTool
      errorReason
      requests
      failed
      inputTokens
      outputTokens
      costUsd
      unknownCosts
    }
  }
`;

const usageBreakdownDocument = /* GraphQL */ `
  query UsageBreakdown($filter: UsageFilter, $before: UsageFilter, $groupBy: [UsageDimension!]!) {
    current: usageSummary(filter: $filter, groupBy: $groupBy) {
      apiKeyId
      apiKeyName
      model
      provider
      status
      ownerId
      ownerName
      clientTool
      errorReason
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
      apiKeyId
      model
      provider
      status
      ownerId
      clientTool
      errorReason
      requests
      costUsd
    }
  }
`;

export type UsageDimension = "API_KEY" | "MODEL" | "PROVIDER" | "STATUS" | "OWNER" | "TOOL" | "ERROR_REASON";

/** The members that name a group. Members of other dimensions are null. */
export type UsageGroup = {
  apiKeyId: string | null;
  apiKeyName?: string | null;
  model: string | null;
  provider: string | null;
  status: UsageStatus | null;
  ownerId: string | null;
  ownerName?: string | null;
  clientTool: string | null;
  errorReason: string | null;
};

/** The sums of a group, optionally per interval. BigInt and Decimal values are strings. */
export type UsageSummaryRow = UsageGroup & {
  interval: string | null;
  requests: number;
  failed: number;
  inputTokens: string;
  outputTokens: string;
  costUsd: string | null;
  unknownCosts: number;
};

export type UsageTotalsRow = Omit<UsageSummaryRow, "interval"> & {
  interrupted: number;
  p50DurationMs: number | null;
  p95DurationMs: number | null;
  p50TimeToFirstTokenMs: number | null;
  cachedInputTokens: string;
  chargeUsd: string | null;
};

/** The sums of a group in the previous period. */
export type UsageBeforeRow = UsageGroup & Pick<UsageSummaryRow, "requests" | "costUsd">;

export async function summarizeUsage(
  filter: UsageFilter,
  groupBy: UsageDimension[],
  interval: UsageInterval | null,
): Promise<UsageSummaryRow[]> {
  const variables = { filter, groupBy, interval };
  const answer = await askGraphql<{ usageSummary: UsageSummaryRow[] }>(usageSummaryDocument, variables);
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
