import { createQuery, type QueryClient } from "@tanstack/svelte-query";
import { api } from "#lib/session/api.ts";

/** All providers; there are never many. */
export function createProvidersQuery(isWanted: () => boolean = () => true) {
  return createQuery(() => ({
    queryKey: ["providers", "list"],
    queryFn: () => api.providers.list.query(),
    enabled: isWanted(),
  }));
}

/** How they do; shared with the overview, and as fresh. */
export function createHealthQuery() {
  return createQuery(() => ({
    queryKey: ["providers", "health"],
    queryFn: () => api.providers.health.query(),
    refetchInterval: 15_000,
  }));
}

/** The well-known upstreams, which change with the gateway's version alone. */
export function createPresetsQuery(isWanted: () => boolean = () => true) {
  return createQuery(() => ({
    queryKey: ["providers", "presets"],
    queryFn: () => api.providers.presets.query(),
    staleTime: Infinity,
    enabled: isWanted(),
  }));
}

/** Which private addresses may be called, which changes when the gateway starts anew alone. */
export function createPrivateHostsQuery(isWanted: () => boolean) {
  return createQuery(() => ({
    queryKey: ["providers", "privateHosts"],
    queryFn: () => api.providers.privateHosts.query(),
    staleTime: 60_000,
    enabled: isWanted(),
  }));
}

/** Every model, to count them, to choose from and to see what is there already. */
export function createAllModelsQuery(isWanted: () => boolean = () => true) {
  return createQuery(() => ({
    queryKey: ["models", "all"],
    queryFn: () => api.models.list.query(),
    enabled: isWanted(),
  }));
}

/** After a change of providers or models: whatever shows any of them asks again. */
export async function refreshCatalogue(client: QueryClient): Promise<void> {
  await Promise.all([
    client.invalidateQueries({ queryKey: ["providers", "list"] }),
    client.invalidateQueries({ queryKey: ["providers", "environment"] }),
    client.invalidateQueries({ queryKey: ["providers", "health"] }),
    client.invalidateQueries({ queryKey: ["providers", "discovered"] }),
    client.invalidateQueries({ queryKey: ["models"] }),
    client.invalidateQueries({ queryKey: ["keys"] }),
    client.invalidateQueries({ queryKey: ["overview"] }),
  ]);
}
