import type { QueryClient } from "@tanstack/svelte-query";
import { api, type Outputs } from "#lib/session/api.ts";

export type ApiKey = Outputs["keys"]["get"];
export type KeyUsage = Outputs["keys"]["usage"];

/** One key, as the gateway has it. */
export function keyQuery(id: string) {
  return { queryKey: ["keys", "one", id], queryFn: () => api.keys.get.query({ id }) };
}

/** What is used of a key's limits, as the gateway has it. */
export function keyUsageQuery(id: string) {
  return { queryKey: ["keys", "limits", id], queryFn: () => api.keys.usage.query({ id }) };
}

/** Whether requests are refused because of it. */
export function isSpent({ budgetUsd, spentUsd }: KeyUsage["budgets"][number]): boolean {
  return budgetUsd !== null && spentUsd >= budgetUsd;
}

/** Budgets that the key shares with others, and that are spent: requests are refused because of them, too. */
export function spentShared({ sharedBudgets: { person, gateway, isGatewaySpent } }: KeyUsage) {
  const isUsedUp = ({ spentPercent }: { spentPercent: number }) => spentPercent >= 100;
  const ofOwner = person.filter(isUsedUp);
  // Only administrators are told how much it is.
  return { ofOwner, ofGateway: gateway.filter(isUsedUp), isAny: ofOwner.length > 0 || isGatewaySpent };
}

/** What the gateway answered to a change is how the key is from now on, wherever it is shown. */
export async function rememberKey(queries: QueryClient, key: ApiKey): Promise<void> {
  queries.setQueryData(keyQuery(key.id).queryKey, key);
  await Promise.all([
    queries.invalidateQueries({ queryKey: ["keys", "list"] }),
    queries.invalidateQueries({ queryKey: ["keys", "counts"] }),
  ]);
}

/** It is gone. Its own page does not ask for it again. */
export async function forgetKey(queries: QueryClient, id: string): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ["keys", "list"] }),
    queries.invalidateQueries({ queryKey: ["keys", "counts"] }),
  ]);
  queries.removeQueries({ queryKey: keyQuery(id).queryKey, type: "inactive" });
}

/** One that was chosen turned out not to be there: they are asked for again. */
export function forgetModels(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({ queryKey: ["models", "all"] });
}
