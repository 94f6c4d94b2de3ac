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

/** A model for keys to use. Prices are nano-dollars per million tokens. An unknown price is null, never 0. */
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
    /** Null if the details were never set, as for models of earlier releases. */
    priceDetails: nullable(json<PriceDetails>()),
    /** Increases with each change. */
    revision: integer({ default: 1 }),
    createdAt: moment(),
  },
  [uniqueIndex("models_slug", ["slug"]), index("models_provider", ["providerId"])],
);

/** The models that replace a failed one, in order. Fallbacks of fallbacks are not followed. */
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
