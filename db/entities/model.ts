import {
  bigInteger,
  id,
  index,
  integer,
  json,
  moment,
  nullable,
  references,
  type RowOf,
  table,
  text,
  uniqueIndex,
} from "./table.ts";
import type { PriceDetails } from "./price-details.ts";

/** Prices are in nano-dollars per million tokens. Null means unknown, 0 means free. */
export const Model = table(
  "models",
  {
    id: id(),
    slug: text(255),
    providerId: text(40, references("providers", "RESTRICT")),
    upstreamModel: text(255),
    contextWindowTokens: nullable(integer()),
    outputTokensMax: nullable(integer()),
    inputPrice: nullable(bigInteger()),
    cachedInputPrice: nullable(bigInteger()),
    cacheWritePrice: nullable(bigInteger()),
    outputPrice: nullable(bigInteger()),
    /** The other prices and the conditions. */
    priceDetails: nullable(json<PriceDetails>()),
    /** Increases with each edit, to detect concurrent edits. */
    revision: integer({ default: 1 }),
    createdAt: moment(),
  },
  [uniqueIndex("models_slug", ["slug"]), index("models_provider", ["providerId"])],
);

/** `position` orders the fallbacks of a model. A fallback's own fallbacks are not used. */
export const ModelFallback = table(
  "model_fallbacks",
  {
    modelId: id(references("models", "CASCADE")),
    position: integer({ primary: true }),
    fallbackModelId: text(40, references("models", "CASCADE")),
  },
  [index("model_fallbacks_model", ["fallbackModelId"])],
);

export type ModelRow = RowOf<typeof Model>;
export type ModelFallbackRow = RowOf<typeof ModelFallback>;
