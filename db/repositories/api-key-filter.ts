import { And, Equal, type FindOptionsWhere, IsNull, LessThan, MoreThanOrEqual, Not, Raw } from "typeorm";
import type { ApiKeyRow } from "../entities/api-key.ts";
import { budgetColumn, budgetPeriods } from "../entities/limits.ts";
import { containing } from "./containing.ts";

/** Limits a query to one user's keys and usage records, so that the ID of another user's key finds nothing. */
export type OwnerScope = { ownerId: string } | "everyone";

export type ApiKeyFilter = {
  owner: OwnerScope;
  /** A filter within the scope of `owner`. */
  ownerId?: string | undefined;
  teamId?: string | undefined;
  search?: string | undefined;
  status?: ApiKeyRow["status"] | undefined;
  modelId?: string | undefined;
  /** `from` is inclusive, `to` is exclusive. */
  expires?: { from: Date; to: Date } | undefined;
  neverUsed?: boolean | undefined;
};

export function ownedBy(owner: OwnerScope): { ownerId?: string } {
  return owner === "everyone" ? {} : { ownerId: owner.ownerId };
}

export function matching(
  filter: ApiKeyFilter & { beforeId?: string | undefined },
): FindOptionsWhere<ApiKeyRow> {
  const { owner, ownerId, teamId, search, status, modelId, beforeId, expires, neverUsed } = filter;
  const connected = (column: string) =>
    `${column} IN (SELECT api_key_id FROM api_key_models WHERE model_id = :modelId)`;
  const ids = [...(beforeId ? [LessThan(beforeId)] : []), ...(modelId ? [Raw(connected, { modelId })] : [])];
  // Both conditions on the owner apply, because a filter must never widen the scope.
  const owners = [owner === "everyone" ? undefined : owner.ownerId, ownerId].filter(
    (each) => each !== undefined,
  );
  return {
    ...(owners.length > 0 && { ownerId: And(...owners.map((each) => Equal(each))) }),
    ...(teamId !== undefined && { teamId }),
    ...(status && { status }),
    ...(search && { name: containing(search) }),
    ...(expires && { expiresAt: And(MoreThanOrEqual(expires.from), LessThan(expires.to)) }),
    ...(neverUsed && { lastUsedAt: IsNull() }),
    ...(ids.length > 0 && { id: And(...ids) }),
  };
}

/** Active keys with a budget. TypeORM combines the conditions with OR. */
export function hasBudget(owner: OwnerScope): FindOptionsWhere<ApiKeyRow>[] {
  const columns = budgetPeriods.map(budgetColumn);
  return columns.map((name) => ({ ...ownedBy(owner), status: "active", [name]: Not(IsNull()) }));
}
