import type { Repositories } from "../../db/database.ts";
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
