import type { Repositories } from "../../db/database.ts";
import { StillReferencedError } from "../../db/database-errors.ts";
import { GatewayError } from "../errors.ts";

/** The models of these slugs. Throws `invalid_value` for a slug that none has. */
export async function modelIds({ models }: Repositories, slugs: string[]): Promise<string[]> {
  const found = await models.findBySlugs(slugs);
  const known = new Set(found.map((model) => model.slug));
  const unknown = slugs.filter((slug) => !known.has(slug));
  if (unknown.length > 0) {
    throw new GatewayError("invalid_value", `There is no model ${unknown.join(", ")}.`, { param: "models" });
  }
  return found.map((model) => model.id);
}

/** What connects models with a key: one that is deleted at this moment is as unknown as one that was deleted before. */
export async function refusingDeletedModels<Result>(write: Promise<Result>): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof StillReferencedError)) throw error;
    const message = "One of these models has just been deleted.";
    throw new GatewayError("invalid_value", message, { param: "models" });
  }
}
