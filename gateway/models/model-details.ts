import type { ModelRow } from "../../db/entities/model.ts";
import { fromPriceColumns, type Prices } from "./prices.ts";

/** A model as people see it. Prices are US dollars per million tokens. */
export type Model = {
  id: string;
  slug: string;
  providerId: string;
  upstreamModel: string;
  prices: Prices;
  contextWindow: number | null;
  outputTokensMax: number | null;
  /** The models that answer when this one cannot, by slug, in their order. */
  fallbacks: string[];
  createdAt: Date;
};

export function toModel(row: ModelRow, fallbacks: string[]): Model {
  return {
    id: row.id,
    slug: row.slug,
    providerId: row.providerId,
    upstreamModel: row.upstreamModel,
    prices: fromPriceColumns(row),
    contextWindow: row.contextWindowTokens,
    outputTokensMax: row.outputTokensMax,
    fallbacks,
    createdAt: row.createdAt,
  };
}
