import type { OwnerScope } from "../../db/repositories/api-key-filter.ts";
import type { Role, UserRow } from "../../db/entities/user.ts";
import { createId } from "../ids.ts";
import type { Runtime } from "../runtime.ts";
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

export function newUser(
  runtime: Runtime,
  { email, ...user }: Pick<UserRow, "name" | "email" | "role" | "status" | "passwordHash">,
): UserRow {
  const [id, createdAt] = [createId("usr", runtime), new Date(runtime.now())];
  return { ...user, id, email: normalizeEmail(email), keepKeys: false, lastSignInAt: null, createdAt };
}
