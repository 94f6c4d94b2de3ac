import type { Repositories } from "../../db/database.ts";
import type { ModelRow } from "../../db/entities/model.ts";
import { GatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import type { Runtime } from "../runtime.ts";
import type { KnownModel } from "../known-models/known-models.ts";
import { toPriceColumns, unknownPrices, withGiven } from "../known-models/prices.ts";
import { parseSlug } from "../routing/slug.ts";
import type { NewModel } from "./model-inputs.ts";
import type { ModelReference } from "../../db/repositories/model-repository.ts";

/** Fills missing prices and token limits. Throws `invalid_value` for an unknown provider or an invalid slug. */
export async function insertModel(
  { models, providers }: Repositories,
  runtime: Runtime,
  model: NewModel,
  known: KnownModel | null,
): Promise<ModelRow> {
  const parts = parseSlug(model.slug);
  const provider = await providers.find(model.providerId);
  if (!provider) throw noProvider("providerId");
  if (parts?.providerName !== provider.name) {
    const message = `The slug ${model.slug.slice(0, 60)} is invalid. Use ${provider.name}/ followed by the model's name, without spaces.`;
    throw new GatewayError("invalid_value", message, { param: "slug" });
  }
  // An explicit null is kept. Known facts replace only undefined values.
  const { contextWindow = known?.contextWindow ?? null, outputTokensMax = known?.outputTokensMax ?? null } =
    model;
  const row: ModelRow = {
    id: createId("mdl", runtime),
    slug: model.slug,
    providerId: provider.id,
    upstreamModel: model.upstreamModel ?? parts.modelName,
    contextWindowTokens: contextWindow,
    outputTokensMax,
    ...toPriceColumns(withGiven(known?.prices ?? unknownPrices, model.prices)),
    revision: 1,
    createdAt: new Date(runtime.now()),
  };
  await models.insert(row);
  return row;
}

export function noProvider(param: string): GatewayError {
  const code = param === "id" ? "not_found" : "invalid_value";
  return new GatewayError(code, "No provider has this ID. Reload the list of providers.", { param });
}

/** The caller must append a catalogue change. Returns the number of keys that could use the model. */
export async function deleteModel(
  { changes, models }: Repositories,
  { id }: Pick<ModelRow, "id">,
  now: Date,
): Promise<number> {
  const keyIds = await models.connectedKeyIds(id);
  await models.delete(id);
  // Each entry ends the key's requests in flight that use this model.
  for (const keyId of keyIds) await changes.append("api_key", keyId, now);
  return keyIds.length;
}

/** Throws `not_found` for an unknown model. */
export async function findModel({ models }: Repositories, reference: ModelReference): Promise<ModelRow> {
  const row = await models.find(reference);
  if (row) return row;
  const param = Object.keys(reference)[0] ?? null;
  const problem =
    "slug" in reference ? `The model ${reference.slug} does not exist.` : "No model has this ID.";
  throw new GatewayError("not_found", `${problem} Reload the list of models.`, { param });
}
