import type { Repositories } from "../../db/database.ts";
import type { ModelRow } from "../../db/entities/model.ts";
import { readFallbacks } from "./model-details.ts";

/** The models and keys that a deletion would affect. */
export type Impact = {
  models: { id: string; slug: string; keyCount: number }[];
  /** The number of keys that can use any of the models, including disabled keys. */
  keyCount: number;
  activeKeyCount: number;
  /** The newest affected keys, at most 20. */
  keys: { id: string; name: string; status: "active" | "disabled" }[];
  /** The slugs of other models that have one of the models as a fallback. */
  fallbackOf: string[];
};

export async function readImpact(repositories: Repositories, rows: ModelRow[]): Promise<Impact> {
  const keyCounts = await repositories.apiKeys.countByModel("everyone");
  const keys = await repositories.apiKeys.connectedTo(rows.map(({ id }) => id));
  const fallbacksOf = await readFallbacks(repositories);
  const slugs = new Set(rows.map(({ slug }) => slug));
  const others = (await repositories.models.list()).filter(({ slug }) => !slugs.has(slug));
  return {
    models: rows.map(({ id, slug }) => ({ id, slug, keyCount: keyCounts.get(id) ?? 0 })),
    keyCount: keys.length,
    activeKeyCount: keys.filter(({ status }) => status === "active").length,
    keys: keys.slice(0, keysMax).map(({ id, name, status }) => ({ id, name, status })),
    fallbackOf: others
      .filter((model) => fallbacksOf(model).some((slug) => slugs.has(slug)))
      .map(({ slug }) => slug),
  };
}

const keysMax = 20;
