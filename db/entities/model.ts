import {
  bigInteger,
  id,
  index,
  integer,
  moment,
  nullable,
  references,
  type RowOf,
  table,
  text,
  uniqueIndex,
} from "./table.ts";

/** A model that keys can be connected to. Prices are nano-dollars per million tokens; an unknown price is null, never 0. */
export const Model = table(
  "models",
  {
    id: id(),
    slug: text(255),
    providerId: text(40, references("providers", "RESTRICT")),
    /** What the upstream calls it. */
    upstreamModel: text(255),
    contextWindowTokens: nullable(integer()),
    outputTokensMax: nullable(integer()),
    inputPrice: nullable(bigInteger()),
    cachedInputPrice: nullable(bigInteger()),
    cacheWritePrice: nullable(bigInteger()),
    outputPrice: nullable(bigInteger()),
    /** One more with each change. */
    revision: integer({ default: 1 }),
    createdAt: moment(),
  },
  [uniqueIndex("models_slug", ["slug"]), index("models_provider", ["providerId"])],
);

/** The models that answer when one cannot, in their order. A model's own fallbacks only: they are not followed further. */
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
