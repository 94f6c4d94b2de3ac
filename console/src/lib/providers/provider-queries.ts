import { createQuery, type QueryClient } from "@tanstack/svelte-query";
import { api } from "#lib/session/api.ts";

/** Lists all providers. There are few, so the list has no pages. */
export function createProvidersQuery(isWanted: () => boolean = () => true) {
  return createQuery(() => ({
    queryKey: ["providers", "list"],
    queryFn: () => api.providers.list.query(),
    enabled: isWanted(),
  }));
}

export function createHealthQuery() {
  return createQuery(() => ({
    queryKey: ["providers", "health"],
    queryFn: () => api.providers.health.query(),
    refetchInterval: 15_000,
  }));
}

/** The presets of providers change only with the gateway's version. */
export function createPresetsQuery(isWanted: () => boolean = () => true) {
  return createQuery(() => ({
    queryKey: ["providers", "presets"],
    queryFn: () => api.providers.presets.query(),
    staleTime: Infinity,
    enabled: isWanted(),
  }));
}

/** The private hosts that the gateway may call. They change only when the gateway restarts. */
export function createPrivateHostsQuery(isWanted: () => boolean) {
  return createQuery(() => ({
    queryKey: ["providers", "privateHosts"],
    queryFn: () => api.providers.privateHosts.query(),
    staleTime: 60_000,
    enabled: isWanted(),
  }));
}

export function createAllModelsQuery(isWanted: () => boolean = () => true) {
  return createQuery(() => ({
    queryKey: ["models", "all"],
    queryFn: () => api.models.list.query(),
    enabled: isWanted(),
  }));
}

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
