import type { Database, Repositories } from "../../db/database.ts";
import { DuplicateError } from "../../db/database-errors.ts";
import type { Role, UserRow, UserStatus } from "../../db/entities/user.ts";
import type { Actor, AuditLog, AuditAction } from "../audit/audit-log.ts";
import type { Changes } from "../audit/changes.ts";
import { GatewayError } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import { type InvitationToken, issueInvitation } from "./invitation-service.ts";
import { can } from "./permissions.ts";
import { type Author, newUser, normalizeEmail } from "./person.ts";

/** `keyCount` includes `teamKeyCount`, the keys that a team pays for. */
type User = Omit<UserRow, "passwordHash"> & { keyCount: number; teamKeyCount: number };

/** `stoppedKeys` counts those that worked until now. */
export type DisabledUser = { user: User; stoppedKeys: number; handedOverKeys: number };

export type InvitedUser = { user: User } & InvitationToken;

type UserListQuery = {
  search?: string | undefined;
  cursor?: string | undefined;
  limit?: number | undefined;
};

type UserServiceOptions = {
  database: Database;
  runtime: Runtime;
  audit: AuditLog;
  changeFeed: Changes;
};

/** Administrators' operations on users. At least one administrator always stays active. */
export class UserService {
  readonly #options: UserServiceOptions;

  constructor(options: UserServiceOptions) {
    this.#options = options;
  }

  /** Lists the newest users first. */
  list(query: UserListQuery): Promise<{ items: User[]; nextCursor: string | null }> {
    const { search, cursor, limit = usersPerPage } = query;
    return this.#options.database.read(async (repositories) => {
      const rows = await repositories.users.list({ search, beforeId: cursor, limit: limit + 1 });
      const items = await describe(repositories, rows.slice(0, limit));
      return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
    });
  }

  get(id: string): Promise<User> {
    return this.#options.database.read(async (repositories) =>
      describeOne(repositories, await findUser(repositories, id)),
    );
  }

  /**
   * Creates a user, and a link for choosing a password. A user who has not used the link yet gets a new link,
   * name and role. Throws `conflict` for any other existing user.
   */
  async invite(
    author: Author,
    { name, email: written, role }: { name: string; email: string; role: Role },
  ): Promise<InvitedUser> {
    const email = normalizeEmail(written);
    try {
      return await this.#options.database.write(async (repositories) => {
        const { users } = repositories;
        const existing = await users.findByEmail(email);
        if (existing && existing.status !== "invited") throw emailTaken(email, existing.status);
        const invited = { email, name, role, passwordHash: "", status: "invited" } as const;
        const user = existing ? { ...existing, name, role } : newUser(this.#options.runtime, invited);
        if (existing) await users.update(existing.id, { name, role });
        else await users.insert(user);
        const details = { email, role, isAgain: existing !== null };
        await this.#options.audit.record(repositories, author, "user.invite", user, details);
        const link = await issueInvitation(repositories, this.#options.runtime, user.id, "invitation");
        return { user: await describeOne(repositories, user), ...link };
      });
    } catch (error) {
      throw error instanceof DuplicateError ? emailTaken(email, "active") : error;
    }
  }

  /** Creates a link to choose a new password. The old password stays valid until the link is used. */
  resetPassword(author: Actor, id: string): Promise<InvitedUser> {
    return this.#options.database.write(async (repositories) => {
      // The lock orders concurrent resets, so that only the last link is valid.
      await repositories.changes.lock();
      const user = await findUser(repositories, id);
      if (user.status === "disabled") {
        const message = `${user.name} is disabled. Enable the user first.`;
        throw new GatewayError("conflict", message, { param: "id" });
      }
      await this.#options.audit.record(repositories, author, "user.resetPassword", user);
      const kind = user.status === "invited" ? "invitation" : "passwordReset";
      const link = await issueInvitation(repositories, this.#options.runtime, id, kind);
      return { user: await describeOne(repositories, user), ...link };
    });
  }

  /** The new role applies from the user's next request. */
  setRole(author: Author, id: string, role: Role): Promise<User> {
    return this.#change(author, id, "user.setRole", async (repositories, user) => {
      if (!can({ role }, "users.setRole")) await keepAnAdministrator(repositories, user);
      return { changes: { role }, details: { from: user.role, to: role } };
    });
  }

  /**
   * Ends the user's sessions, blocks sign-in and stops the user's keys until the user is enabled again.
   * @param teamKeys by default, keys that a team pays for become service keys of the team and keep working
   */
  async disable(
    author: Author,
    id: string,
    teamKeys: "hand-over" | "stop" = "hand-over",
  ): Promise<DisabledUser> {
    let [stoppedKeys, handedOverKeys] = [0, 0];
    const user = await this.#change(author, id, "user.disable", async (repositories, row) => {
      await keepAnAdministrator(repositories, row);
      // This update locks the user's row before the sessions are deleted. A concurrent sign-in is either complete,
      // or waits and fails.
      await repositories.users.update(id, { status: "disabled" });
      await repositories.sessions.deleteOf(id);
      await repositories.invitations.deleteOf(id);
      if (teamKeys === "hand-over") handedOverKeys = (await repositories.apiKeys.handOver(id)).length;
      const isStopping = row.status !== "disabled" || row.keepKeys;
      const active = { owner: { ownerId: id }, status: "active" } as const;
      stoppedKeys = isStopping ? await repositories.apiKeys.count(active) : 0;
      const changes = { status: "disabled", keepKeys: false } as const;
      return { changes, details: { stoppedKeys, handedOver: handedOverKeys } };
    });
    return { user, stoppedKeys, handedOverKeys };
  }

  /** The user's keys work as before. A user with a password can sign in again. A user without one needs a new link. */
  enable(author: Author, id: string): Promise<User> {
    return this.#change(author, id, "user.enable", async (_repositories, { status, passwordHash }) => {
      const enabled = passwordHash === "" ? "invited" : "active";
      const changes = { status: enabled, keepKeys: false } as const;
      return { changes, details: { from: status, to: enabled } };
    });
  }

  #change(
    author: Author,
    id: string,
    action: AuditAction,
    decide: (repositories: Repositories, user: UserRow) => Promise<UserChange>,
  ): Promise<User> {
    return this.#options.changeFeed.edit("person", async (repositories) => {
      // Two administrators who demote each other at the same time must not both succeed.
      await repositories.changes.lock();
      const user = await findUser(repositories, id);
      const { changes, details } = await decide(repositories, user);
      await repositories.users.update(id, changes);
      await this.#options.audit.record(repositories, author, action, user, details);
      return [id, await describeOne(repositories, { ...user, ...changes })];
    });
  }
}

type UserChange = {
  changes: Partial<Pick<UserRow, "role" | "status" | "keepKeys">>;
  details: Record<string, unknown>;
};

const usersPerPage = 50;

async function findUser({ users }: Repositories, id: string): Promise<UserRow> {
  const user = await users.find(id);
  if (!user)
    throw new GatewayError("not_found", "No user has this ID. Reload the list of people.", { param: "id" });
  return user;
}

async function keepAnAdministrator({ users }: Repositories, user: UserRow): Promise<void> {
  if (!can(user, "users.setRole") || user.status !== "active") return;
  if (await users.hasOtherAdministrator(user.id)) return;
  const message = `${user.name} is the last active administrator. Promote another user first.`;
  throw new GatewayError("conflict", message, { param: "id" });
}

async function describe({ apiKeys }: Repositories, rows: UserRow[]): Promise<User[]> {
  const ids = rows.map(({ id }) => id);
  const keyCounts = await apiKeys.countBy("ownerId", ids);
  const teamKeyCounts = await apiKeys.countBy("ownerId", ids, { ofTeams: true });
  return rows.map(({ passwordHash: _, ...user }) => ({
    ...user,
    keyCount: keyCounts.get(user.id) ?? 0,
    teamKeyCount: teamKeyCounts.get(user.id) ?? 0,
  }));
}

async function describeOne(repositories: Repositories, row: UserRow): Promise<User> {
  const [user] = await describe(repositories, [row]);
  if (user === undefined) throw new Error("The description of the user is missing.");
  return user;
}

function emailTaken(email: string, status: UserStatus): GatewayError {
  const hint = status === "disabled" ? "Enable that disabled user instead." : "Use another address.";
  const message = `A user with the address ${email} already exists. ${hint}`;
  return new GatewayError("conflict", message, { param: "email" });
}
