import { askGraphql } from "#lib/session/graphql.ts";

const usedValuesDocument = /* GraphQL */ `
  query UsedValues($filter: UsageFilter) {
    tools: usageSummary(filter: $filter, groupBy: [TOOL]) {
      clientTool
    }
    reasons: usageSummary(filter: $filter, groupBy: [ERROR_REASON]) {
      errorReason
    }
  }
`;

type Answer = { tools: { clientTool: string }[]; reasons: { errorReason: string }[] };

/**
 * The coding tools and error reasons of a period, most frequent first. An empty tool stands for all other
 * clients.
 */
export async function readUsedValues(filter: {
  from: string;
  to: string;
}): Promise<{ tools: string[]; reasons: string[] }> {
  const { tools, reasons } = await askGraphql<Answer>(usedValuesDocument, { filter });
  return {
    tools: tools.map(({ clientTool }) => clientTool).filter((tool) => tool !== unknown),
    reasons: reasons.map(({ errorReason }) => errorReason).filter((reason) => reason && reason !== unknown),
  };
}

/** The value in sums from releases that did not record tools and error reasons. */
const unknown = "unknown";
