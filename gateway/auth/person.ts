import type { OwnerScope } from "../../db/repositories/api-key-filter.ts";
import type { Role } from "../../db/entities/user.ts";
import { can } from "./permissions.ts";

export type Person = Readonly<{ id: string; name: string; email: string; role: Role; sessionId: string }>;

/** The author of a change, with the IP address for the audit log. */
export type Author = Person & Readonly<{ address: string }>;

export function ownerScope(person: Person): OwnerScope {
  return can(person, "keys.ofOthers") ? "everyone" : { ownerId: person.id };
}

/** Normalizes the spelling, so that an address belongs to one user only. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}
