import type { ProviderRow } from "../../../db/entities/provider.ts";

/** How a provider's requests are billed. Missing values stay, null is the default. */
export type BillingChanges = {
  costSource?: "provider" | null | undefined;
  /** The charge in relation to the cost: 1.15 adds 15 %. */
  chargeFactor?: number | null | undefined;
};

/** Factors are stored in ten-thousandths, and null for 1. */
export function toFactorColumn(factor: number | null): number | null {
  const parts = factor === null ? parts1 : Math.round(factor * parts1);
  return parts === parts1 ? null : parts;
}

/** Null for 1. */
export function fromFactorColumn(parts: number | null): number | null {
  return parts === null ? null : parts / parts1;
}

export function toBillingColumns({ costSource, chargeFactor }: BillingChanges) {
  return {
    ...(costSource !== undefined && { costSource }),
    ...(chargeFactor !== undefined && { chargeFactor: toFactorColumn(chargeFactor) }),
  } satisfies Partial<ProviderRow>;
}

const parts1 = 10_000;
