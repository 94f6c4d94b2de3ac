import { StillReferencedError } from "../../db/database-errors.ts";
import type { Repositories } from "../../db/database.ts";
import { GatewayError } from "../errors.ts";

/**
 * Throws `invalid_value` for an unknown slug, and for a model outside the fence.
 * @param fence the IDs of the models that may be chosen. Null for all.
 * @param kept models outside the fence that may stay
 */
export async function modelIds(
  { models }: Repositories,
  slugs: string[],
  fence: ReadonlySet<string> | null = null,
  kept: ReadonlySet<string> = new Set(),
): Promise<string[]> {
  const found = await models.findBySlugs(slugs);
  const known = new Set(found.map((model) => model.slug));
  const unknown = slugs.filter((slug) => !known.has(slug));
  if (unknown.length > 0) {
    const message = `These models do not exist: ${unknown.join(", ")}. Remove them from the list.`;
    throw new GatewayError("invalid_value", message, { param: "models" });
  }
  const outside = found.filter(({ id }) => fence && !fence.has(id) && !kept.has(id)).map(({ slug }) => slug);
  if (outside.length > 0) {
    const message = `Who pays for this key may not use ${outside.join(", ")}. Remove them from the list, or ask an administrator to allow them.`;
    throw new GatewayError("invalid_value", message, { param: "models" });
  }
  return found.map((model) => model.id);
}

/** Throws `invalid_value` if one of the models is deleted concurrently. */
export async function refusingDeletedModels<Result>(write: Promise<Result>): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof StillReferencedError)) throw error;
    const message = "One of these models was just deleted. Reload the list.";
    throw new GatewayError("invalid_value", message, { param: "models" });
  }
}
