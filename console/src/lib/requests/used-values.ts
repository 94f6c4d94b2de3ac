import { graphql } from "#lib/session/graphql-document.ts";
import { askGraphql } from "#lib/session/graphql.ts";

const usedValuesDocument = graphql(`
  query UsedValues($filter: UsageFilter) {
    tools: usageSummary(filter: $filter, groupBy: [TOOL]) {
      clientTool
    }
    reasons: usageSummary(filter: $filter, groupBy: [ERROR_REASON]) {
      errorReason
    }
  }
`);

/**
 * The coding tools and error reasons of a period, most frequent first. An empty tool stands for all other
 * clients.
 */
export async function readUsedValues(filter: {
  from: string;
  to: string;
}): Promise<{ tools: string[]; reasons: string[] }> {
  const { tools, reasons } = await askGraphql(usedValuesDocument, { filter });
  return {
    tools: tools.flatMap(({ clientTool }) => clientTool ?? []).filter((tool) => tool !== unknown),
    reasons: reasons.flatMap(({ errorReason }) => errorReason || []).filter((reason) => reason !== unknown),
  };
}

/** The value in sums from releases that did not record tools and error reasons. */
const unknown = "unknown";
