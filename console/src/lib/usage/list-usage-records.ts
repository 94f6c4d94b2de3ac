import { graphql } from "#lib/session/graphql-document.ts";
import { askGraphql } from "#lib/session/graphql.ts";
import { type UsageRecord, usageRecordFields } from "./usage-record.ts";
import type { UsageFilter } from "./usage-filter.ts";

const usageRecordsDocument = graphql(
  `
    query UsageRecords($filter: UsageFilter, $first: Int, $after: String) {
      usageRecords(filter: $filter, first: $first, after: $after) {
        edges {
          node {
            ...UsageRecordFields
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `,
  [usageRecordFields],
);

/** A page of records, newest first. */
export async function listUsageRecords(
  filter: UsageFilter,
  { first = 50, after }: { first?: number; after?: string | undefined } = {},
): Promise<{ items: UsageRecord[]; nextCursor: string | null }> {
  const { usageRecords } = await askGraphql(usageRecordsDocument, { filter, first, after });
  const { edges, pageInfo } = usageRecords;
  return {
    items: edges.map(({ node }) => node),
    nextCursor: pageInfo.hasNextPage ? pageInfo.endCursor : null,
  };
}
