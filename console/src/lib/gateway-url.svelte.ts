import { createQuery } from "@tanstack/svelte-query";
import { api } from "#lib/session/api.ts";

/** The base URL for clients, without a trailing slash: the configured URL or this page's origin. */
export function createGatewayUrl(): { readonly current: string } {
  const info = createQuery(() => ({
    queryKey: ["gateway"],
    queryFn: () => api.gateway.info.query(),
    staleTime: Infinity,
  }));
  return {
    get current() {
      return info.data?.publicUrl ?? location.origin;
    },
  };
}
