import type { QueryClient } from "@tanstack/svelte-query";
import { kinds } from "#lib/limits/holder-words.ts";
import { api, type Outputs } from "#lib/session/api.ts";

export type ApiKey = Outputs["keys"]["get"];
export type KeyUsage = Outputs["keys"]["usage"];

export function keyQuery(id: string) {
  return { queryKey: ["keys", "one", id], queryFn: () => api.keys.get.query({ id }) };
}

export function keyUsageQuery(id: string) {
  return { queryKey: ["keys", "limits", id], queryFn: () => api.keys.usage.query({ id }) };
}

export function setupModelsQuery(slugs: string[]) {
  return { queryKey: ["models", "forSetup", slugs], queryFn: () => api.models.forSetup.query({ slugs }) };
}

export function isSpent({ budgetUsd, spentUsd }: KeyUsage["budgets"][number]): boolean {
  return budgetUsd !== null && spentUsd >= budgetUsd;
}

/** The shared budgets that are spent, by holder. Each of them blocks the key's requests. */
export function spentShared({ sharedBudgets: { isGatewaySpent, ...uses } }: KeyUsage) {
  return kinds.flatMap((kind) => {
    const spent = uses[kind].filter(({ spentPercent }) => spentPercent >= 100);
    // Members receive no budgets of the gateway, only whether one is spent.
    return spent.length > 0 || (kind === "gateway" && isGatewaySpent) ? [{ kind, spent }] : [];
  });
}

/** Caches the gateway's responses to changes, and reloads the lists of keys. */
export async function rememberKey(queries: QueryClient, ...keys: ApiKey[]): Promise<void> {
  for (const key of keys) queries.setQueryData(keyQuery(key.id).queryKey, key);
  await reloadLists(queries);
}

/** Removes a deleted key from the cache. The key's page must stop its query first. */
export async function forgetKey(queries: QueryClient, id: string): Promise<void> {
  await reloadLists(queries);
  queries.removeQueries({ queryKey: keyQuery(id).queryKey, type: "inactive" });
}

async function reloadLists(queries: QueryClient): Promise<void> {
  const lists = [
    ["keys", "list"],
    ["keys", "counts"],
  ];
  await Promise.all(lists.map((queryKey) => queries.invalidateQueries({ queryKey })));
}

/** Reloads the cached models, which may contain a deleted model. */
export function forgetModels(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({ queryKey: ["models", "all"] });
}
