import { createQuery } from "@tanstack/svelte-query";
import { api } from "#lib/session/api.ts";

/** Where clients reach this gateway, without a slash at the end: as it was configured, else as this page was reached. */
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
