import type { Repositories } from "../../db/database.ts";
import type { ModelRow } from "../../db/entities/model.ts";

/**
 * Deletes a model within the caller's transaction, which appends the catalogue's change. Returns the number of keys
 * that could use it.
 */
export async function deleteModel(
  { changes, models }: Repositories,
  { id }: Pick<ModelRow, "id">,
  now: Date,
): Promise<number> {
  const keyIds = await models.connectedKeyIds(id);
  await models.delete(id);
  // Ends the keys' streams with this model, as if each key had lost it.
  for (const keyId of keyIds) await changes.append("api_key", keyId, now);
  return keyIds.length;
}
