import { session } from "#lib/session/session.svelte.ts";
import type { ApiKey } from "./key-cache.ts";

const overrules = () => session.can("keys.overrule");

export function canActivate({ disabledBy, owner }: ApiKey): boolean {
  if (overrules()) return true;
  // Leads see keys of others. An owner cannot undo a lead's decision.
  return disabledBy !== "admin" && !(disabledBy === "lead" && owner?.id === session.user?.id);
}

/** Whether an administrator acts on another user's key. The owner cannot undo a deactivation or model removal. */
export function isOverruling({ owner }: ApiKey): boolean {
  return overrules() && owner !== null && owner.id !== session.user?.id;
}

export function lockedModels({ withheldModels }: ApiKey): ReadonlySet<string> {
  return new Set(overrules() ? [] : withheldModels);
}
