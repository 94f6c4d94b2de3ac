import { DuplicateError } from "../../db/database-errors.ts";
import type { Database, Repositories } from "../../db/database.ts";
import { noHolders } from "../../db/entities/api-key.ts";
import type { ModelAccess } from "../../db/entities/limits.ts";
import type { TeamRole, TeamRow, TeamStatus } from "../../db/entities/team.ts";
import type { AuditAction, AuditLog } from "../audit/audit-log.ts";
import { can } from "../auth/permissions.ts";
import type { Author, Person } from "../auth/person.ts";
import { canLead, findActiveUser, findTeam } from "../auth/team-access.ts";
import { GatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import type { ChangeFeed } from "../keys/change-feed.ts";
import type { Budgets } from "../limits/budgets/budgets.ts";
import { type Limits, noLimitColumns, toLimits } from "../limits/limit-table.ts";
import type { Runtime } from "../runtime.ts";
import type { TeamChange, TeamMemberChange, TeamPage, TeamStatusChange } from "./team-inputs.ts";

type ListedTeam = {
  id: string;
  name: string;
  /** Keys of a team that is not active do not work. */
  status: TeamStatus;
  createdAt: Date;
  /** The role of the person who asks. Null for an administrator who is not a member. */
  role: TeamRole | null;
  memberCount: number;
  keyCount: number;
};

type Team = ListedTeam & {
  limits: Limits;
  /** Whether the team's keys may use all models, or only `models`. */
  modelAccess: ModelAccess;
  models: string[];
  /** The uses of the team's budgets. */
  budgets: Awaited<ReturnType<Budgets["sharedUsesOfKey"]>>["team"];
  /** Leads first. Only leads and administrators see addresses. */
  members: { id: string; name: string; email: string | null; role: TeamRole }[];
};

type TeamServiceOptions = {
  database: Database;
  runtime: Runtime;
  changeFeed: ChangeFeed;
  audit: AuditLog;
  budgets: Pick<Budgets, "sharedUsesOfKey">;
};

/** Members see their own teams, leads also manage the members. Administrators see and manage all teams. */
export class TeamService {
  readonly #options: TeamServiceOptions;

  constructor(options: TeamServiceOptions) {
    this.#options = options;
  }

  /** Lists the newest teams first. */
  list(person: Person, query: TeamPage): Promise<{ items: ListedTeam[]; nextCursor: string | null }> {
    const { cursor: beforeId, limit = teamsPerPage, ...filter } = query;
    const userId = can(person, "teams.ofOthers") ? undefined : person.id;
    return this.#options.database.ask(person, async (repositories) => {
      const rows = await repositories.teams.list({ ...filter, userId, beforeId, limit: limit + 1 });
      const items = await describe(repositories, person, rows.slice(0, limit));
      return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
    });
  }

  /** Throws `not_found` for a team that the person cannot see. */
  async get(person: Person, id: string): Promise<Team> {
    const { database, budgets } = this.#options;
    const team = await database.read(async (repositories) => {
      const found = await findTeam(repositories, person, id);
      const [listed] = await describe(repositories, person, [found.team]);
      if (listed === undefined) throw new Error("The description of the team is missing.");
      const row = await repositories.limits.find(id);
      const limits = toLimits(row ?? noLimitColumns);
      const models = await repositories.limits.allowedSlugs(id);
      const isManaging = canLead(person, found);
      const members = (await repositories.teams.membersOf([id])).map(({ teamId: _, email, ...member }) => ({
        ...member,
        email: isManaging ? email : null,
      }));
      return { ...listed, limits, modelAccess: row?.modelAccess ?? "all", models, members };
    });
    const uses = await budgets.sharedUsesOfKey({ ...noHolders, id: "", teamId: id });
    return { ...team, budgets: uses.team };
  }

  /** Active users who are not members yet, for those who may add them. */
  people(person: Person, id: string, search: string | undefined) {
    return this.#options.database.ask(person, async (repositories) => {
      const found = await findTeam(repositories, person, id);
      if (!canLead(person, found)) throw notLead();
      const members = new Set((await repositories.teams.membersOf([id])).map((member) => member.id));
      const users = await repositories.users.list({ search, limit: peopleMax + members.size });
      return users
        .filter((user) => !members.has(user.id) && user.status !== "disabled")
        .slice(0, peopleMax)
        .map(({ id: userId, name, email }) => ({ id: userId, name, email }));
    });
  }

  async create(author: Author, name: string): Promise<Team> {
    const { database, runtime, audit } = this.#options;
    const createdAt = new Date(runtime.now());
    const team: TeamRow = { id: createId("tem", runtime), name, status: "active", createdAt };
    await refusingTakenName(
      name,
      database.write(async (repositories) => {
        await repositories.teams.insert(team);
        await audit.record(repositories, author, "team.create", team);
      }),
    );
    return this.get(author, team.id);
  }

  async update(author: Author, { id, name }: TeamChange): Promise<Team> {
    const renaming = this.#edit(author, id, async (repositories, { team }) => {
      await repositories.teams.update(id, { name });
      return { action: "team.update", details: { from: team.name, to: name } };
    });
    await refusingTakenName(name, renaming);
    return this.get(author, id);
  }

  /** Keys of a paused or archived team stop in every process. Activating it restores them as they were. */
  async setStatus(author: Author, { id, status }: TeamStatusChange): Promise<Team> {
    const { changeFeed, audit } = this.#options;
    await changeFeed.edit("team", async (repositories) => {
      const { team } = await findTeam(repositories, author, id);
      await repositories.teams.update(id, { status });
      const details = { from: team.status, to: status };
      await audit.record(repositories, author, "team.setStatus", team, details);
      return [id, null];
    });
    return this.get(author, id);
  }

  /** Leads add members only, administrators also leads. Throws `conflict` for somebody who is one already. */
  async addMember(author: Author, { id, userId, role }: TeamMemberChange): Promise<Team> {
    await this.#edit(author, id, async (repositories, found) => {
      if (!canLead(author, found) || (role === "lead" && !can(author, "teams.setRole"))) throw notLead();
      const user = await findActiveUser(repositories, userId, "userId");
      if ((await repositories.teams.roleOf(id, userId)) !== null) {
        const message = `${user.name} is a member of the team already. Choose somebody else.`;
        throw new GatewayError("conflict", message, { param: "userId" });
      }
      const createdAt = new Date(this.#options.runtime.now());
      await repositories.teams.addMember({ teamId: id, userId, role, createdAt });
      return { action: "team.addMember", details: { member: user.name, role } };
    });
    return this.get(author, id);
  }

  /** Throws `conflict` for the last lead of a team with further members. */
  async setRole(author: Author, { id, userId, role }: TeamMemberChange): Promise<Team> {
    await this.#edit(author, id, async (repositories) => {
      const member = await findMember(repositories, id, userId);
      if (role !== "lead") await keepALead(repositories, id, member);
      await repositories.teams.setRole(id, userId, role);
      return { action: "team.setRole", details: { member: member.name, from: member.role, to: role } };
    });
    return this.get(author, id);
  }

  /**
   * The keys of the member that the team pays for become service keys of the team, because programs depend on them.
   * Leads remove members only. Throws `conflict` for the last lead of a team with further members.
   */
  async removeMember(author: Author, { id, userId }: Omit<TeamMemberChange, "role">): Promise<Team> {
    await this.#edit(author, id, async (repositories, found) => {
      const member = await findMember(repositories, id, userId);
      if (!canLead(author, found) || (member.role === "lead" && !can(author, "teams.setRole")))
        throw notLead();
      await keepALead(repositories, id, member);
      await repositories.teams.removeMember(id, userId);
      const keyIds = await repositories.apiKeys.handOver(userId, id);
      const details = { member: member.name, handedOver: keyIds.length };
      return { action: "team.removeMember", details, keyIds };
    });
    return this.get(author, id);
  }

  /** @param work returns the audit entry, and the keys that changed */
  #edit(
    author: Author,
    id: string,
    work: (
      repositories: Repositories,
      found: Awaited<ReturnType<typeof findTeam>>,
    ) => Promise<{ action: AuditAction; details: Record<string, unknown>; keyIds?: string[] }>,
  ): Promise<void> {
    const { changeFeed, audit } = this.#options;
    return changeFeed.edit("api_key", async (repositories) => {
      // Two administrators who remove each other's lead at the same time must not both succeed.
      await repositories.changes.lock();
      const found = await findTeam(repositories, author, id);
      const { action, details, keyIds } = await work(repositories, found);
      await audit.record(repositories, author, action, found.team, details);
      return [keyIds, undefined];
    });
  }
}

const teamsPerPage = 50;
const peopleMax = 20;

async function describe(
  { apiKeys, teams }: Repositories,
  person: Person,
  rows: TeamRow[],
): Promise<ListedTeam[]> {
  const ids = rows.map(({ id }) => id);
  const keyCounts = await apiKeys.countBy("teamId", ids);
  const members = Map.groupBy(await teams.membersOf(ids), ({ teamId }) => teamId);
  return rows.map((row) => {
    const own = members.get(row.id) ?? [];
    const role = own.find(({ id }) => id === person.id)?.role ?? null;
    return { ...row, role, memberCount: own.length, keyCount: keyCounts.get(row.id) ?? 0 };
  });
}

async function findMember({ teams }: Repositories, id: string, userId: string) {
  const member = (await teams.membersOf([id])).find((each) => each.id === userId);
  if (member) return member;
  const message = "This person is not a member of the team. Reload the team.";
  throw new GatewayError("not_found", message, { param: "userId" });
}

async function keepALead(
  { teams }: Repositories,
  id: string,
  { id: userId, name, role }: { id: string; name: string; role: TeamRole },
): Promise<void> {
  if (role !== "lead") return;
  const others = (await teams.membersOf([id])).filter((member) => member.id !== userId);
  if (others.length === 0 || others.some((member) => member.role === "lead")) return;
  const message = `${name} is the only lead of the team. Make another member a lead first.`;
  throw new GatewayError("conflict", message, { param: "userId" });
}

function notLead(): GatewayError {
  return new GatewayError(
    "forbidden",
    "This action requires a lead of the team, and an administrator where leads are concerned.",
  );
}

async function refusingTakenName<Result>(name: string, write: Promise<Result>): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof DuplicateError)) throw error;
    const message = `A team with the name ${name} already exists. Choose another name.`;
    throw new GatewayError("conflict", message, { param: "name" });
  }
}
