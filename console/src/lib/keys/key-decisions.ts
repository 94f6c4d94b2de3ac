import { session } from "#lib/session/session.svelte.ts";
import type { ApiKey } from "./key-cache.ts";

const isAdmin = () => session.user?.role === "admin";

export function canActivate({ disabledBy }: ApiKey): boolean {
  return disabledBy !== "admin" || isAdmin();
}

/** Whether an administrator acts on another user's key. The owner cannot undo a deactivation or model removal. */
export function isOverruling({ owner }: ApiKey): boolean {
  return isAdmin() && owner !== null && owner.id !== session.user?.id;
}

export function lockedModels({ withheldModels }: ApiKey): ReadonlySet<string> {
  return new Set(isAdmin() ? [] : withheldModels);
}
