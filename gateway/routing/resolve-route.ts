import { GatewayError } from "../errors.ts";
import type { KnownKey } from "../keys/key-cache.ts";
import type { Catalogue, CatalogueModel } from "./catalogue.ts";
import { isBareName, parseSlug } from "./slug.ts";

/** Where a request goes: decided once, then carried along. */
export type Route = CatalogueModel;

/**
 * The route of a request. Throws `model_not_found`, in the same words whether there is no such model or the key may not
 * use it.
 */
export function resolveRoute(catalogue: Catalogue, key: KnownKey, slug: string): Route {
  const model = catalogue.find(slug);
  if (model && key.modelIds.has(model.id)) return model;
  // Only what can be a name is repeated: it goes into answers and terminals.
  const isBare = isBareName(slug);
  const name = isBare || parseSlug(slug) ? `\`${slug}\`` : "with this name";
  throw new GatewayError(
    "model_not_found",
    `The model ${name} does not exist or this API key is not connected to it.${isBare ? explainSlug(catalogue, key, slug) : ""} GET /v1/models lists the models it may use.`,
    { param: "model" },
  );
}

/** For a model that was named as its provider does. */
function explainSlug(catalogue: Catalogue, key: KnownKey, name: string): string {
  const meant = listModels(catalogue, key).find(({ slug }) => parseSlug(slug)?.modelName === name);
  return ` Models are named \`<provider>/<model_name>\`${meant ? `: did you mean \`${meant.slug}\`?` : "."}`;
}

/** The models a key may use, by slug. */
export function listModels(catalogue: Catalogue, key: KnownKey): CatalogueModel[] {
  return [...catalogue.list()].filter((model) => key.modelIds.has(model.id));
}
