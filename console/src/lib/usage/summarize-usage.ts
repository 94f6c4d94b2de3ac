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
      requests
      inputTokens
      outputTokens
      costUsd
      unknownCosts
    }
  }
`;

export type UsageDimension = "API_KEY" | "MODEL" | "PROVIDER" | "STATUS";

/** Sums of a group, optionally per interval. BigInt and Decimal are strings. */
export type UsageSummaryRow = {
  interval: string | null;
  apiKeyId: string | null;
  apiKeyName: string | null;
  model: string | null;
  provider: string | null;
  status: UsageStatus | null;
  requests: number;
  inputTokens: string;
  outputTokens: string;
  costUsd: string | null;
  unknownCosts: number;
};

export async function summarizeUsage(
  filter: UsageFilter,
  groupBy: UsageDimension[],
  interval: UsageInterval | null,
): Promise<UsageSummaryRow[]> {
  const variables = { filter, groupBy, interval };
  const answer = await askGraphql<{ usageSummary: UsageSummaryRow[] }>(usageSummaryDocument, variables);
  return answer.usageSummary;
}
