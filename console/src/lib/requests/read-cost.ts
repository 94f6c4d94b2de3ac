import { askGraphql } from "#lib/session/graphql.ts";

const costDocument = /* GraphQL */ `
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
`;

/** A part of a cost. Amounts are US dollars as text, and null if unknown. */
export type CostLine = {
  component: string;
  quantity: number;
  /** The price per million tokens, searches or requests. */
  priceUsd: string | null;
  amountUsd: string | null;
  when: string | null;
};

export type Cost = {
  costUsd: string | null;
  /** `provider` if the cost is the provider's own figure, otherwise `prices`. */
  costSource: string;
  providerCostUsd: string | null;
  leastCostUsd: string | null;
  chargeFactor: number;
  chargeUsd: string | null;
  costLines: CostLine[];
};

/** Null for a request that the user may not see, and until a new record is stored. */
export async function readCost(id: string): Promise<Cost | null> {
  const { usageRecord } = await askGraphql<{ usageRecord: Cost | null }>(costDocument, { id });
  return usageRecord;
}
