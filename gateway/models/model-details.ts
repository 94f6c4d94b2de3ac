import type { Repositories } from "../../db/database.ts";
import type { ModelRow } from "../../db/entities/model.ts";
import type { OwnerScope } from "../../db/repositories/api-key-filter.ts";
import { fromPriceColumns, type Prices } from "../known-models/prices.ts";
import { GatewayError } from "../errors.ts";

type KeptColumns = "id" | "slug" | "providerId" | "upstreamModel" | "outputTokensMax" | "revision";

export type Model = Pick<ModelRow, KeptColumns> & {
  prices: Prices;
  contextWindow: number | null;
  /** The slugs of the models that the gateway tries after this model fails, in order. */
  fallbacks: string[];
  createdAt: Date;
  /** The number of the model's keys that the user can see. */
  keyCount: number;
};

export async function toModels(
  repositories: Repositories,
  rows: ModelRow[],
  owner: OwnerScope,
): Promise<Model[]> {
  const fallbacksOf = await readFallbacks(repositories);
  const keyCounts = await repositories.apiKeys.countByModel(owner);
  return rows.map((row) => ({
    id: row.id,
    slug: row.slug,
    providerId: row.providerId,
    upstreamModel: row.upstreamModel,
    prices: fromPriceColumns(row),
    contextWindow: row.contextWindowTokens,
    outputTokensMax: row.outputTokensMax,
    fallbacks: fallbacksOf(row),
    createdAt: row.createdAt,
    keyCount: keyCounts.get(row.id) ?? 0,
    revision: row.revision,
  }));
}

export async function toModelDetails(
  repositories: Repositories,
  row: ModelRow,
  owner: OwnerScope,
): Promise<Model> {
  const [model] = await toModels(repositories, [row], owner);
  if (model === undefined) throw new Error("The details of the model are missing.");
  return model;
}

export async function readFallbacks({ models }: Repositories): Promise<(model: { id: string }) => string[]> {
  const fallbacks = Map.groupBy(await models.listFallbacks(), ({ modelId }) => modelId);
  const rows = fallbacks.size === 0 ? [] : await models.list();
  const slugs = new Map(rows.map(({ id, slug }) => [id, slug]));
  return ({ id }) =>
    (fallbacks.get(id) ?? []).flatMap(({ fallbackModelId }) => slugs.get(fallbackModelId) ?? []);
}

/** Replaces a model's fallbacks. Throws `invalid_value` for an unknown slug or the model's own slug. */
export async function saveFallbacks(
  { models }: Repositories,
  model: Pick<ModelRow, "id" | "slug">,
  slugs: string[],
): Promise<void> {
  const ids = new Map((await models.findBySlugs(slugs)).map(({ id, slug }) => [slug, id]));
  const fallbackIds = slugs.map((slug, index) => {
    const id = ids.get(slug);
    const refused = (problem: string) =>
      new GatewayError("invalid_value", `${problem} Choose another model.`, { param: `fallbacks.${index}` });
    if (id === undefined) throw refused(`The fallback model ${slug} does not exist.`);
    if (id === model.id) throw refused(`The model ${slug} cannot be its own fallback.`);
    return id;
  });
  await models.setFallbacks(model.id, fallbackIds);
}
