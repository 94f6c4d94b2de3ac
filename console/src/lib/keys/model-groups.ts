import type { Outputs } from "#lib/session/api.ts";

export type ModelChoice = Pick<Outputs["models"]["list"][number], "slug" | "contextWindow" | "prices">;
export type ModelGroup<Model> = { provider: string; models: Model[] };

/** Groups models by provider, without changing their order. */
export function groupByProvider<Model extends { slug: string }>(models: Model[]): ModelGroup<Model>[] {
  const groups = Map.groupBy(models, ({ slug }) => slug.slice(0, slug.indexOf("/")));
  return [...groups].map(([provider, members]) => ({ provider, models: members }));
}

export function findModels<Model extends { slug: string }>(models: Model[], search: string): Model[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return models.filter(({ slug }) => words.every((word) => slug.toLowerCase().includes(word)));
}

export function compareModels(before: string[], after: string[]): { added: string[]; removed: string[] } {
  const [had, has] = [new Set(before), new Set(after)];
  return { added: after.filter((slug) => !had.has(slug)), removed: before.filter((slug) => !has.has(slug)) };
}

export function isSameSet(before: string[], after: string[]): boolean {
  const { added, removed } = compareModels(before, after);
  return added.length === 0 && removed.length === 0;
}
