import type { Repositories } from "../../db/database.ts";
import type { ModelRow } from "../../db/entities/model.ts";
import { GatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import type { Runtime } from "../runtime.ts";
import type { KnownModel } from "../known-models/known-models.ts";
import { type Prices, toPriceColumns, unknownPrices, withGiven } from "../known-models/prices.ts";
import { parseSlug } from "../routing/slug.ts";

export type ModelChanges = {
  upstreamModel?: string | undefined;
  prices?: Partial<Prices> | undefined;
  contextWindow?: number | null | undefined;
  outputTokensMax?: number | null | undefined;
  /** The slugs of the fallbacks, in order. They replace the existing ones. */
  fallbacks?: string[] | undefined;
  /** The edited revision. Rejected unless it is the current one. */
  revision?: number | undefined;
};

export type NewModel = Omit<ModelChanges, "revision"> & { slug: string; providerId: string };

/** Fills missing values with known facts. Throws for a slug without the provider's name. */
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
    const message = `The slug must be ${provider.name}/ followed by the model's name, without spaces.`;
    throw new GatewayError("invalid_value", message, { param: "slug" });
  }
  // Null is a given value, so known facts replace only undefined ones.
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
