import type { Repositories } from "../../db/database.ts";
import type { ModelRow } from "../../db/entities/model.ts";

/** Deletes a model as part of a transaction that tells of the catalogue's change. Returns how many keys could use it. */
export async function deleteModel(
  { changes, models }: Repositories,
  { id }: Pick<ModelRow, "id">,
  now: Date,
): Promise<number> {
  const keyIds = await models.connectedKeyIds(id);
  await models.delete(id);
  // Their streams with this model are cut, as if it had been taken from each of them.
  for (const keyId of keyIds) await changes.append("api_key", keyId, now);
  return keyIds.length;
}
