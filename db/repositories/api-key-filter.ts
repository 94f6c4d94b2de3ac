import { And, Equal, type FindOptionsWhere, IsNull, LessThan, MoreThanOrEqual, Not, Raw } from "typeorm";
import type { ApiKeyRow } from "../entities/api-key.ts";
import { containing } from "./containing.ts";

/**
 * The visible keys: one user's or everyone's. Every condition includes the scope, so that another user's key
 * ID finds nothing.
 */
export type OwnerScope = { ownerId: string } | "everyone";

export type ApiKeyFilter = {
  owner: OwnerScope;
  /** An owner within the scope. */
  ownerId?: string | undefined;
  search?: string | undefined;
  status?: ApiKeyRow["status"] | undefined;
  modelId?: string | undefined;
  /** Keys that expire in `from` ≤ time < `to`. */
  expires?: { from: Date; to: Date } | undefined;
  neverUsed?: boolean | undefined;
};

export function ownedBy(owner: OwnerScope): { ownerId?: string } {
  return owner === "everyone" ? {} : { ownerId: owner.ownerId };
}

export function matching(
  filter: ApiKeyFilter & { beforeId?: string | undefined },
): FindOptionsWhere<ApiKeyRow> {
  const { owner, ownerId, search, status, modelId, beforeId, expires, neverUsed } = filter;
  const connected = (column: string) =>
    `${column} IN (SELECT api_key_id FROM api_key_models WHERE model_id = :modelId)`;
  const ids = [...(beforeId ? [LessThan(beforeId)] : []), ...(modelId ? [Raw(connected, { modelId })] : [])];
  // Both conditions on the owner apply, because a filter must never widen the scope.
  const owners = [owner === "everyone" ? undefined : owner.ownerId, ownerId].filter(
    (each) => each !== undefined,
  );
  return {
    ...(owners.length > 0 && { ownerId: And(...owners.map((each) => Equal(each))) }),
    ...(status && { status }),
    ...(search && { name: containing(search) }),
    ...(expires && { expiresAt: And(MoreThanOrEqual(expires.from), LessThan(expires.to)) }),
    ...(neverUsed && { lastUsedAt: IsNull() }),
    ...(ids.length > 0 && { id: And(...ids) }),
  };
}

/** Active keys with any budget. */
export function hasBudget(owner: OwnerScope): FindOptionsWhere<ApiKeyRow>[] {
  const budgets = ["dayBudget", "weekBudget", "monthBudget", "totalBudget"] as const;
  return budgets.map((name) => ({ ...ownedBy(owner), status: "active", [name]: Not(IsNull()) }));
}
