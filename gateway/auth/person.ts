import type { OwnerScope } from "../../db/repositories/api-key-repository.ts";
import type { Role } from "../../db/entities/user.ts";
import { GatewayError } from "../errors.ts";

/** Whoever is signed in to the console. */
export type Person = Readonly<{ id: string; name: string; email: string; role: Role; sessionId: string }>;

/** Whoever changes something, and from which IP address: what the audit log says of them. */
export type Author = Person & Readonly<{ address: string }>;

/** Which keys a person sees and manages. */
export function ownerScope(person: Person): OwnerScope {
  return person.role === "admin" ? "everyone" : { ownerId: person.id };
}

/** Throws `forbidden` unless the person is an administrator. */
export function requireAdmin(person: Person): void {
  if (person.role !== "admin") throw new GatewayError("forbidden", "Only an administrator may do this.");
}
