import type { ProviderRow } from "../../../db/entities/provider.ts";

/** Undefined keeps a setting. Null resets it to the default. */
type BillingChanges = {
  costSource?: "provider" | null | undefined;
  /** The charge in relation to the cost: 1.15 adds 15 %. */
  chargeFactor?: number | null | undefined;
};

/** Converts a factor to ten-thousandths. Null stands for a factor of 1. */
export function toFactorColumn(factor: number | null): number | null {
  const parts = factor === null ? parts1 : Math.round(factor * parts1);
  return parts === parts1 ? null : parts;
}

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
