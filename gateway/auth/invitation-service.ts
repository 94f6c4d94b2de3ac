import type { Database, Repositories } from "../../db/database.ts";
import type { InvitationRow, UserRow } from "../../db/entities/user.ts";
import type { AuditLog } from "../audit/audit-log.ts";
import { GatewayError } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import type { PasswordHasher } from "./password-hasher.ts";
import type { Session, SessionService } from "./session-service.ts";
import { hash } from "node:crypto";

type Invitation = { name: string; email: string; kind: "invitation" | "passwordReset" };

type InvitationServiceOptions = {
  database: Database;
  runtime: Runtime;
  sessions: SessionService;
  passwords: PasswordHasher;
  audit: AuditLog;
};

/** Links for choosing a first or new password. Each link works once, within a week. */
export class InvitationService {
  readonly #options: InvitationServiceOptions;

  constructor(options: InvitationServiceOptions) {
    this.#options = options;
  }

  /** Throws `not_found` for an unknown, used or expired link, and for a disabled user. */
  async find(token: string): Promise<Invitation> {
    const { invitation, user } = await this.#options.database.read((repositories) =>
      this.#open(repositories, token),
    );
    return { name: user.name, email: user.email, kind: invitation.kind };
  }

  /** Sets the password of the link's user, ends their sessions and signs them in. */
  async join(
    token: string,
    { name, password }: { name: string; password: string },
    address: string,
  ): Promise<Session> {
    // The link is checked first, because hashing the password is expensive.
    await this.find(token);
    const passwordHash = await this.#options.passwords.hash(password);
    return this.#options.database.write(async (repositories) => {
      const { invitation, user } = await this.#open(repositories, token);
      const { invitations, sessions, users } = repositories;
      if (!(await invitations.delete(invitation.tokenHash))) throw noInvitation();
      // This update locks the user's row before the sessions are deleted. A concurrent sign-in with the old password
      // is either complete, or waits and fails.
      await users.update(user.id, { name, passwordHash, status: "active" });
      await sessions.deleteOf(user.id);
      const joined: UserRow = { ...user, name, passwordHash, status: "active" };
      const author = { ...joined, address };
      await this.#options.audit.record(repositories, author, "user.join", joined, { by: invitation.kind });
      return this.#options.sessions.start(repositories, joined);
    });
  }

  async #open(
    { invitations, users }: Repositories,
    token: string,
  ): Promise<{ invitation: InvitationRow; user: UserRow }> {
    const invitation = await invitations.find(hash("sha256", token));
    const user = invitation && (await users.find(invitation.userId));
    const isOver = invitation === null || invitation.expiresAt.getTime() <= this.#options.runtime.now();
    if (isOver || !user || user.status === "disabled") throw noInvitation();
    return { invitation, user };
  }
}

function noInvitation(): GatewayError {
  return new GatewayError(
    "not_found",
    "This link is invalid, expired or already used. Ask an administrator for a new one.",
    { param: "token" },
  );
}

/** The database stores only a hash of the token. */
export type InvitationToken = { token: string; expiresAt: Date };

/** Creates a link for a user within the caller's transaction. The link replaces an earlier one. */
export async function issueInvitation(
  { invitations }: Repositories,
  { now, randomBytes }: Pick<Runtime, "now" | "randomBytes">,
  userId: string,
  kind: InvitationRow["kind"],
): Promise<InvitationToken> {
  const token = randomBytes(32).toString("base64url");
  const createdAt = new Date(now());
  const expiresAt = new Date(createdAt.getTime() + lifetimeMs);
  // A plain hash suffices, because 256 random bits need no salt.
  const tokenHash = hash("sha256", token);
  await invitations.replace({ tokenHash, userId, kind, expiresAt, createdAt });
  return { token, expiresAt };
}

const lifetimeMs = 7 * 24 * 60 * 60_000;

/** The token is in the fragment, which browsers do not send, so that proxies cannot log it. */
export function formatJoinLink(consoleUrl: string, token: string): string {
  return `${consoleUrl}/join#token=${token}`;
}
