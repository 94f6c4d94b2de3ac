import type { Repositories } from "../../db/database.ts";
import type { ApiKeyDetails, ApiKeyFilter } from "../../db/repositories/api-key-repository.ts";
import { ownerScope, type Person } from "../auth/person.ts";
import { GatewayError } from "../errors.ts";

/** A key that the person may see. Throws `not_found` for any other, as for one that does not exist. */
export async function findKey({ apiKeys }: Repositories, person: Person, id: string): Promise<ApiKeyDetails> {
  const found = await apiKeys.find(id, ownerScope(person));
  if (!found) throw noSuchKey();
  return found;
}

export function noSuchKey(): GatewayError {
  return new GatewayError("not_found", "There is no API key with this id.", { param: "id" });
}

/** Which keys of those that a person sees. */
export type KeyFilter = {
  search?: string | undefined;
  /** A model that they may use, by its slug. */
  modelSlug?: string | undefined;
  ownerId?: string | undefined;
};

/** Null where there can be no such key. */
export async function toKeyFilter(
  { models }: Repositories,
  person: Person,
  { search, modelSlug, ownerId }: KeyFilter,
): Promise<ApiKeyFilter | null> {
  const filter = { owner: ownerScope(person), search, ownerId };
  if (modelSlug === undefined) return filter;
  const model = await models.find({ slug: modelSlug });
  return model && { ...filter, modelId: model.id };
}

/** Throws `invalid_value` for somebody who is not there. */
export async function checkOwner({ users }: Repositories, ownerId: string | undefined): Promise<void> {
  if (ownerId === undefined || (await users.find(ownerId))) return;
  throw new GatewayError("invalid_value", "There is no person with this id.", { param: "ownerId" });
}
