import { type EntityManager, In, LessThan, Raw } from "typeorm";
import { Team, TeamMember, type TeamMemberRow, type TeamRole, type TeamRow } from "../entities/team.ts";
import { User } from "../entities/user.ts";
import { containing } from "./containing.ts";

export type TeamPage = {
  /** Only the teams of this user. */
  userId?: string | undefined;
  search?: string | undefined;
  status?: TeamRow["status"] | undefined;
  beforeId?: string | undefined;
  limit: number;
};

export type NamedMember = { teamId: string; id: string; name: string; email: string; role: TeamRole };

export class TeamRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  find(id: string): Promise<TeamRow | null> {
    return this.#manager.findOneBy(Team, { id });
  }

  /** Lists the newest teams first. `search` matches a part of the name. */
  list({ userId, search, status, beforeId, limit }: TeamPage): Promise<TeamRow[]> {
    const joined = (column: string) =>
      `${column} IN (SELECT team_id FROM team_members WHERE user_id = :userId)${beforeId === undefined ? "" : ` AND ${column} < :beforeId`}`;
    const before = beforeId === undefined ? {} : { id: LessThan(beforeId) };
    return this.#manager.find(Team, {
      where: {
        ...(userId === undefined ? before : { id: Raw(joined, { userId, beforeId }) }),
        ...(search && { name: containing(search) }),
        ...(status && { status }),
      },
      order: { id: "DESC" },
      take: limit,
    });
  }

  async listByIds(ids: readonly string[]): Promise<TeamRow[]> {
    return ids.length === 0 ? [] : this.#manager.findBy(Team, { id: In(ids) });
  }

  /** The names of the teams, by ID. Omits unknown IDs. */
  async namesOf(ids: readonly string[]): Promise<Map<string, string>> {
    return new Map((await this.listByIds(ids)).map(({ id, name }) => [id, name]));
  }

  async insert(team: TeamRow): Promise<void> {
    await this.#manager.insert(Team, team);
  }

  async update(id: string, changes: Partial<Pick<TeamRow, "name" | "status">>): Promise<void> {
    await this.#manager.update(Team, { id }, changes);
  }

  /** Null for a user who is not a member. */
  async roleOf(teamId: string, userId: string): Promise<TeamRole | null> {
    return (await this.#manager.findOneBy(TeamMember, { teamId, userId }))?.role ?? null;
  }

  /** The members of the teams: leads first, then by name. */
  async membersOf(teamIds: readonly string[]): Promise<NamedMember[]> {
    if (teamIds.length === 0) return [];
    const members = await this.#manager.findBy(TeamMember, { teamId: In(teamIds) });
    const users = await this.#manager.find(User, {
      select: { id: true, name: true, email: true },
      where: { id: In(members.map(({ userId }) => userId)) },
    });
    const byId = new Map(users.map((user) => [user.id, user]));
    return members
      .flatMap(({ teamId, userId, role }) => {
        const user = byId.get(userId);
        return user ? [{ teamId, id: userId, name: user.name, email: user.email, role }] : [];
      })
      .toSorted((one, other) => rank(one) - rank(other) || one.name.localeCompare(other.name));
  }

  async addMember(member: TeamMemberRow): Promise<void> {
    await this.#manager.insert(TeamMember, member);
  }

  async setRole(teamId: string, userId: string, role: TeamRole): Promise<void> {
    await this.#manager.update(TeamMember, { teamId, userId }, { role });
  }

  async removeMember(teamId: string, userId: string): Promise<void> {
    await this.#manager.delete(TeamMember, { teamId, userId });
  }
}

function rank({ role }: NamedMember): number {
  return role === "lead" ? 0 : 1;
}
