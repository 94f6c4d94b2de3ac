import type { OwnerScope } from "../../db/repositories/api-key-filter.ts";
import type { Role } from "../../db/entities/user.ts";
import { GatewayError } from "../errors.ts";

export type Person = Readonly<{ id: string; name: string; email: string; role: Role; sessionId: string }>;

/** The author of a change, with the IP address for the audit log. */
export type Author = Person & Readonly<{ address: string }>;

export function ownerScope(person: Person): OwnerScope {
  return person.role === "admin" ? "everyone" : { ownerId: person.id };
}

/** Throws `forbidden` unless the user is an administrator. */
export function requireAdmin(person: Person): void {
  if (person.role !== "admin")
    throw new GatewayError(
      "forbidden",
      "This action requires an administrator. Ask an administrator for access.",
    );
}

/** Normalizes the spelling, so that an address belongs to one user only. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}
