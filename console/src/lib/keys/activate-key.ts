import type { QueryClient } from "@tanstack/svelte-query";
import { toast } from "svelte-sonner";
import { api } from "#lib/session/api.ts";
import { reportError } from "#lib/ui/report-error.ts";
import { type ApiKey, rememberKey } from "./key-cache.ts";

/** Reactivates a key without confirmation, because the user can deactivate it again. */
export async function activateKey(queries: QueryClient, { id }: ApiKey): Promise<void> {
  try {
    await rememberKey(queries, await api.keys.activate.mutate({ id }));
    toast.success("Key activated");
  } catch (error) {
    reportError("Couldn't activate key", error);
  }
}
