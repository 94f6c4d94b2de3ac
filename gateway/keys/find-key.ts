import { heldBy } from "../limits/holders.ts";
import { ownLimits } from "../limits/limit-table.ts";
import type { KnownKey } from "./authenticate-key.ts";
import type { Budgets } from "../limits/budgets/budgets.ts";
import type { Repositories, Database } from "../../db/database.ts";
import type { ApiKeyFilter } from "../../db/repositories/api-key-filter.ts";
import type { ApiKeyDetails } from "../../db/repositories/api-key-repository.ts";
import type { Person } from "../auth/person.ts";
import { scopeIn } from "../auth/team-access.ts";
import { GatewayError } from "../errors.ts";
import type { KeyFilter } from "./key-inputs.ts";

/** Throws `not_found` if the key does not exist or the user cannot see it. */
export async function findKey(
  repositories: Repositories,
  person: Person,
  id: string,
): Promise<ApiKeyDetails> {
  const found = await visibleKey(repositories, person, id);
  if (!found) throw noSuchKey();
  return found;
}

/** Null if the key does not exist or the user cannot see it. */
export async function visibleKey(
  repositories: Repositories,
  person: Person,
  id: string,
): Promise<ApiKeyDetails | null> {
  const found = await repositories.apiKeys.find(id);
  if (!found) return null;
  const scope = await scopeIn(repositories, person, found.key.teamId);
  return scope === "everyone" || scope.ownerId === found.key.ownerId ? found : null;
}

export function noSuchKey(): GatewayError {
  return new GatewayError("not_found", "No API key has this ID. Reload the list of keys.", { param: "id" });
}

/** Returns null if no key can match. */
export async function toKeyFilter(
  repositories: Repositories,
  person: Person,
  { search, modelSlug, ownerId, teamId, attention }: KeyFilter,
  now: number,
): Promise<ApiKeyFilter | null> {
  const filter = {
    owner: await scopeIn(repositories, person, teamId),
    search,
    ownerId,
    teamId,
    ...(attention && attentionConditions(attention, now)),
  };
  if (modelSlug === undefined) return filter;
  const model = await repositories.models.find({ slug: modelSlug });
  return model && { ...filter, modelId: model.id };
}

export function attentionConditions(attention: "expiring" | "unused", now: number) {
  if (attention === "unused") return { neverUsed: true };
  return { expires: { from: new Date(now), to: new Date(now + soonMs) } };
}

const soonMs = 7 * 86_400_000;

type LookUpKeyOptions = {
  database: Database;
  budgets: Pick<Budgets, "loadFor">;
  catalogue: { hasAll(modelIds: ReadonlySet<string>): boolean; reload(): Promise<void> };
};

/** Returns null for an unknown hash. Also loads the spending and the models that the key's requests need. */
export async function lookUpKey(
  { database, budgets, catalogue }: LookUpKeyOptions,
  hash: string,
): Promise<KnownKey | null> {
  const found = await database.read(({ apiKeys }) => apiKeys.findByHash(hash));
  if (!found) return null;
  const { key: row, value, modelIds, stoppedBy } = found;
  const ends = [row.expiresAt, value.validUntil].flatMap((end) => end?.getTime() ?? []);
  const key: KnownKey = {
    ...heldBy(row),
    hash,
    name: row.name,
    chargeFactor: row.chargeFactor,
    isActive: row.status === "active" && stoppedBy === null,
    validUntil: ends.length === 0 ? null : Math.min(...ends),
    modelIds: new Set(modelIds),
    limits: ownLimits(row),
  };
  // Another process may have created the key's models a moment ago.
  if (!catalogue.hasAll(key.modelIds)) await catalogue.reload();
  // This comes last, so that the limits hardly change before the key is cached.
  await budgets.loadFor(key);
  return key;
}
