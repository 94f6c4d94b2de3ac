import { createQuery } from "@tanstack/svelte-query";
import { api } from "#lib/session/api.ts";

/** The URL for clients, without a trailing slash: the configured one, or this page's origin. */
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
