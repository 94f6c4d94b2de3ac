import { session } from "#lib/session/session.svelte.ts";
import type { ApiKey } from "./key-cache.ts";

const isAdmin = () => session.user?.role === "admin";

export function canActivate({ disabledBy }: ApiKey): boolean {
  return disabledBy !== "admin" || isAdmin();
}

/** Whether the user is an administrator, and the key belongs to someone else. */
export function isOverruling({ owner }: ApiKey): boolean {
  return isAdmin() && owner !== null && owner.id !== session.user?.id;
}

export function lockedModels({ withheldModels }: ApiKey): ReadonlySet<string> {
  return new Set(isAdmin() ? [] : withheldModels);
}
