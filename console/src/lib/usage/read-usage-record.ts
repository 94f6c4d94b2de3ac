import { graphql } from "#lib/session/graphql-document.ts";
import { askGraphql } from "#lib/session/graphql.ts";
import { type UsageRecord, usageRecordFields } from "./usage-record.ts";

const usageRecordDocument = graphql(
  `
    query UsageRecord($id: ID!) {
      usageRecord(id: $id) {
        ...UsageRecordFields
      }
    }
  `,
  [usageRecordFields],
);

/** Null if no record with this ID is visible to the user. A new record appears after a moment. */
export async function readUsageRecord(id: string): Promise<UsageRecord | null> {
  const { usageRecord } = await askGraphql(usageRecordDocument, { id });
  return usageRecord;
}
