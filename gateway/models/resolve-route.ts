import { GatewayError } from "../errors.ts";
import type { KnownKey } from "../keys/key-cache.ts";
import type { Catalogue, CatalogueModel } from "./catalogue.ts";
import { parseSlug } from "./slug.ts";

/** Where a request goes: decided once, then carried along. */
export type Route = CatalogueModel;

/**
 * The route of a request. Throws `model_not_found`, in the same words whether there is no such model or the key may not
 * use it.
 */
export function resolveRoute(catalogue: Catalogue, key: KnownKey, slug: string): Route {
  const model = catalogue.find(slug);
  if (model && key.modelIds.has(model.id)) return model;
  // Only what can be a slug is repeated: it goes into answers and terminals.
  const name = parseSlug(slug) ? `\`${slug}\`` : "with this name";
  throw new GatewayError(
    "model_not_found",
    `The model ${name} does not exist or this API key is not connected to it. GET /v1/models lists the models it may use.`,
    { param: "model" },
  );
}

/** The models a key may use, by slug. */
export function listModels(catalogue: Catalogue, key: KnownKey): CatalogueModel[] {
  return [...catalogue.list()].filter((model) => key.modelIds.has(model.id));
}
