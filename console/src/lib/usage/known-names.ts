import { api, type Outputs } from "#lib/session/api.ts";
import type { UsageDimension } from "#lib/session/graphql-document.ts";
import { summarizeUsage } from "./summarize-usage.ts";
import type { UsageFilter } from "./usage-filter.ts";

export function keysQuery() {
  return { queryKey: ["keys", "list", { limit: 200 }], queryFn: () => api.keys.list.query({ limit: 200 }) };
}

/**
 * Lists keys with usage in the period, including deleted keys. The end is rounded up to the hour, so that the response
 * can be cached.
 */
export function usedKeysQuery(time: UsageFilter) {
  const times = inWholeHours(time);
  return { queryKey: ["usage", "keys", times], queryFn: () => summarizeUsage(times, ["API_KEY"], null) };
}

/** Lists the requested model names in the period, most requested first, including unknown models. */
export function usedModelsQuery({ apiKeyId, ...time }: UsageFilter) {
  const filter = { ...inWholeHours(time), ...(apiKeyId !== undefined && { apiKeyId }) };
  return { queryKey: ["usage", "models", filter], queryFn: () => summarizeUsage(filter, ["MODEL"], null) };
}

function inWholeHours({ from, to }: Pick<UsageFilter, "from" | "to">) {
  return { from, to: new Date(Math.ceil(Date.parse(to) / 3_600_000) * 3_600_000).toISOString() };
}

type Known = {
  models: Outputs["models"]["list"] | undefined;
  keys: Outputs["keys"]["list"]["items"] | undefined;
};

/**
 * The IDs of keys, slugs of models or names of providers. They are sorted oldest first, so that new values do not
 * change existing colors. Empty for every other dimension.
 */
export function knownNames(dimension: UsageDimension, { models = [], keys = [] }: Known): string[] {
  if (dimension === "API_KEY") return inOrder(keys).map(({ id }) => id);
  const slugs = inOrder(models).map(({ slug }) => slug);
  if (dimension === "MODEL") return slugs;
  return dimension === "PROVIDER" ? [...new Set(slugs.map(providerOf))] : [];
}

/** Keys as options. Keys with equal names also show the end of their masked value. */
export function keyOptions(keys: Outputs["keys"]["list"]["items"]): { value: string; label: string }[] {
  const byName = Map.groupBy(keys, ({ name }) => name);
  return keys.map(({ id, name, maskedValue }) => ({
    value: id,
    label: byName.get(name)?.length === 1 ? name : `${name} ${maskedValue.replace(/^.*…/, "…")}`,
  }));
}

export function providerOf(slug: string): string {
  return slug.slice(0, slug.indexOf("/"));
}

function inOrder<Thing extends { id: string }>(things: Thing[]): Thing[] {
  return things.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}
