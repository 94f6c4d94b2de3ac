import type { Repositories } from "../../db/database.ts";
import type { ModelRow } from "../../db/entities/model.ts";
import { GatewayError } from "../errors.ts";

/** Returns a function that lists the slugs of a model's fallbacks, in order. */
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
    const param = `fallbacks.${index}`;
    if (id === undefined)
      throw new GatewayError(
        "invalid_value",
        `The fallback model ${slug} does not exist. Choose another one.`,
        { param },
      );
    if (id === model.id)
      throw new GatewayError("invalid_value", "A model cannot be its own fallback. Choose another one.", {
        param,
      });
    return id;
  });
  await models.setFallbacks(model.id, fallbackIds);
}
