import { session } from "#lib/session/session.svelte.ts";
import type { ApiKey } from "./key-cache.ts";

const isAdmin = () => session.user?.role === "admin";

/** Whether the signed-in person may activate the key, once it is disabled. */
export function canActivate({ disabledBy }: ApiKey): boolean {
  return disabledBy !== "admin" || isAdmin();
}

/** Whether the key's owner cannot undo what the signed-in person decides about it. */
export function isOverruling({ owner }: ApiKey): boolean {
  return isAdmin() && owner !== null && owner.id !== session.user?.id;
}

/** The models that the signed-in person cannot connect with the key. */
export function lockedModels({ withheldModels }: ApiKey): ReadonlySet<string> {
  return new Set(isAdmin() ? [] : withheldModels);
}
