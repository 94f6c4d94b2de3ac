import type { Repositories } from "../../db/database.ts";
import type { ModelRow } from "../../db/entities/model.ts";
import type { ModelReference } from "../../db/repositories/model-repository.ts";
import { GatewayError } from "../errors.ts";

/** Throws `not_found` for an unknown model. */
export async function findModel({ models }: Repositories, reference: ModelReference): Promise<ModelRow> {
  const row = await models.find(reference);
  if (row) return row;
  const param = Object.keys(reference)[0] ?? null;
  throw new GatewayError("not_found", "The model does not exist. Reload the list of models.", { param });
}
