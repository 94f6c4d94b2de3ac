import type { Outputs } from "#lib/session/api.ts";

export type Role = Outputs["users"]["get"]["role"];

type RoleWords = {
  label: string;
  /** With an article, in a sentence. */
  one: string;
  hint: string;
  /** What a person with this role can do, once the role is given. */
  effect: string;
  /** The role that the page offers instead. */
  other: Role;
};

/** The roles in the order of the invitation. */
export const roles: Record<Role, RoleWords> = {
  member: {
    label: "Member",
    one: "a member",
    hint: "Manages their own keys and sees their usage.",
    effect: "A member sees only their own keys and usage. Only an administrator can undo this change.",
    other: "admin",
  },
  admin: {
    label: "Administrator",
    one: "an administrator",
    hint: "Manages providers, models, people and all keys.",
    effect: "An administrator manages all keys, providers, models and people.",
    other: "member",
  },
};

export const roleOptions = (Object.keys(roles) as Role[]).map((value) => ({ value, ...roles[value] }));

/** The role that a person gets by a change. */
export function otherRole({ role }: { role: Role }): RoleWords & { name: Role } {
  const name = roles[role].other;
  return { name, ...roles[name] };
}
