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
    createdAt: moment(),
  },
  [uniqueIndex("models_slug", ["slug"]), index("models_provider", ["providerId"])],
);

export type ModelRow = RowOf<typeof Model>;
