import type { ResultOf } from "gql.tada";
import { graphql } from "#lib/session/graphql-document.ts";
import { askGraphql } from "#lib/session/graphql.ts";

const costDocument = graphql(`
  query Cost($id: ID!) {
    usageRecord(id: $id) {
      costUsd
      costSource
      providerCostUsd
      leastCostUsd
      chargeFactor
      chargeUsd
      costLines {
        component
        quantity
        priceUsd
        amountUsd
        when
      }
    }
  }
`);

/** Amounts are exact US dollars as text, and null if unknown. */
export type Cost = NonNullable<ResultOf<typeof costDocument>["usageRecord"]>;

export type CostLine = Cost["costLines"][number];

/** Null for a request that the user may not see, and until a new record is stored. */
export async function readCost(id: string): Promise<Cost | null> {
  const { usageRecord } = await askGraphql(costDocument, { id });
  return usageRecord;
}
