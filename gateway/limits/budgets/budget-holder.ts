import { type LimitEventRow, noKey } from "../../../db/entities/limit-event.ts";
import type { LimitHolder } from "../../errors.ts";

export type BudgetHolder = {
  kind: LimitHolder;
  /** Null unless the holder is a key. */
  apiKeyId: string | null;
  apiKeyName: string | null;
  /** The user, or the key's owner. Null for the gateway and for a key without an owner. */
  ownerId: string | null;
};

type HolderColumns = Pick<LimitEventRow, "apiKeyId" | "apiKeyName" | "ownerId">;

export function toHolderColumns({ apiKeyId, apiKeyName, ownerId }: BudgetHolder): HolderColumns {
  return { apiKeyId: apiKeyId ?? noKey, apiKeyName: apiKeyName ?? "", ownerId };
}

export function toBudgetHolder({ apiKeyId, apiKeyName, ownerId }: HolderColumns): BudgetHolder {
  if (apiKeyId !== noKey) return { kind: "key", apiKeyId, apiKeyName, ownerId };
  return { kind: ownerId === null ? "gateway" : "person", apiKeyId: null, apiKeyName: null, ownerId };
}
