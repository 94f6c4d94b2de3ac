import type { Repositories } from "../../db/database.ts";
import type { TeamRole, TeamRow } from "../../db/entities/team.ts";
import type { UserRow } from "../../db/entities/user.ts";
import type { OwnerScope } from "../../db/repositories/api-key-filter.ts";
import { GatewayError } from "../errors.ts";
import { can } from "./permissions.ts";
import { ownerScope, type Person } from "./person.ts";

/** The keys and records of one team that a person may see: all for its leads. Without a team, those of the person. */
export async function scopeIn(
  { teams }: Repositories,
  person: Person,
  teamId: string | null | undefined,
): Promise<OwnerScope> {
  const scope = ownerScope(person);
  if (scope === "everyone" || !teamId) return scope;
  return (await teams.roleOf(teamId, person.id)) === "lead" ? "everyone" : scope;
}

/** `role` is null for an administrator who is not a member. */
type SeenTeam = { team: TeamRow; role: TeamRole | null };

/** Throws `not_found` if the team does not exist, and for a member of other teams only. */
export async function findTeam(
  { teams }: Repositories,
  person: Person,
  id: string,
  param = "id",
): Promise<SeenTeam> {
  const [team, role] = [await teams.find(id), await teams.roleOf(id, person.id)];
  if (team && (role !== null || can(person, "teams.ofOthers"))) return { team, role };
  throw new GatewayError("not_found", "No team has this ID. Reload the list of teams.", { param });
}

export function canLead(person: Person, { role }: SeenTeam): boolean {
  return role === "lead" || can(person, "teams.ofOthers");
}

type Holders = { ownerId: string | null; teamId: string | null };

/** Throws unless the person may create a key for this owner and team, or change its owner to this one. */
export async function checkHolders(
  repositories: Repositories,
  person: Person,
  { ownerId, teamId }: Holders,
): Promise<void> {
  if (teamId !== null) return checkOwnerInTeam(repositories, person, { ownerId, teamId });
  if (ownerId === null) {
    const message = "A key without an owner needs a team that pays for it. Choose a team or an owner.";
    throw new GatewayError("invalid_value", message, { param: "ownerId" });
  }
  if (ownerId !== person.id && !can(person, "keys.ofOthers")) {
    const message =
      "Only an administrator can create keys for others. Create a key for yourself, or ask an administrator.";
    throw new GatewayError("forbidden", message, { param: "ownerId" });
  }
  await findActiveUser(repositories, ownerId, "ownerId");
}

async function checkOwnerInTeam(
  repositories: Repositories,
  person: Person,
  { ownerId, teamId }: { ownerId: string | null; teamId: string },
): Promise<void> {
  const found = await findTeam(repositories, person, teamId, "teamId");
  if (found.team.status === "archived") {
    const message = `The team ${found.team.name} is archived, so its keys do not work. Choose another team.`;
    throw new GatewayError("invalid_value", message, { param: "teamId" });
  }
  if (ownerId === person.id) return;
  if (!canLead(person, found)) {
    const message =
      "Only a lead of the team or an administrator can create keys for others. Create a key for yourself, or ask a lead.";
    throw new GatewayError("forbidden", message, { param: "ownerId" });
  }
  if (ownerId === null) return;
  await findActiveUser(repositories, ownerId, "ownerId");
  if (can(person, "keys.ofOthers") || (await repositories.teams.roleOf(teamId, ownerId)) !== null) return;
  const message = "This person is not a member of the team. Add the person to the team first.";
  throw new GatewayError("invalid_value", message, { param: "ownerId" });
}

/** Throws `invalid_value`, which names `param`, for an unknown and for a disabled user. */
export async function findActiveUser({ users }: Repositories, id: string, param: string): Promise<UserRow> {
  const user = await users.find(id);
  if (user && user.status !== "disabled") return user;
  const message = user
    ? `${user.name} is disabled. Enable this person first, or choose somebody else.`
    : "No user has this ID. Reload the list of people.";
  throw new GatewayError("invalid_value", message, { param });
}
