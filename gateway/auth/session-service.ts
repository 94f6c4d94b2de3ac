import { createHmac, hash } from "node:crypto";
import type { Database, Repositories } from "../../db/database.ts";
import type { SessionRow, UserRow } from "../../db/entities/user.ts";
import type { AuditLog } from "../audit/audit-log.ts";
import { GatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import type { Runtime } from "../runtime.ts";
import type { AccessTokens } from "./access-tokens.ts";
import { type Action, actionsOf } from "./permissions.ts";
import type { Author, Person } from "./person.ts";

/** The refresh token is sent in a cookie, never in a body. */
export type Session = {
  accessToken: string;
  expiresAt: Date;
  user: SignedInUser;
  refreshToken: RefreshToken;
};

/** A user as the console knows them, with what they may do. */
export type SignedInUser = Pick<UserRow, "id" | "name" | "email" | "role"> & { actions: Action[] };

export function describeUser({ id, name, email, role }: Omit<SignedInUser, "actions">): SignedInUser {
  return { id, name, email, role, actions: actionsOf({ role }) };
}

export type RefreshToken = { value: string; expiresAt: Date };

type SessionServiceOptions = {
  database: Database;
  runtime: Runtime;
  accessTokens: AccessTokens;
  secrets: string[];
  audit: AuditLog;
};

/**
 * A session is a chain of single-use refresh tokens. Reuse within ten seconds returns the same successor, because
 * several tabs may refresh at once. Later reuse ends the session.
 */
export class SessionService {
  readonly #options: SessionServiceOptions;

  constructor(options: SessionServiceOptions) {
    this.#options = options;
  }

  async start({ sessions, users }: Repositories, user: UserRow): Promise<Session> {
    const secret = this.#options.runtime.randomBytes(32).toString("base64url");
    const now = new Date(this.#options.runtime.now());
    const session: SessionRow = {
      id: createId("ses", this.#options.runtime),
      userId: user.id,
      tokenHash: hash("sha256", secret),
      previousTokenHash: null,
      rotatedAt: now,
      expiresAt: new Date(now.getTime() + lifetimeMs),
      createdAt: now,
    };
    await sessions.deleteExpired(now);
    await sessions.insert(session);
    await users.update(user.id, { lastSignInAt: now });
    return this.#toSession(session, user, secret);
  }

  /** Exchanges a refresh token for an access token and the next refresh token. Throws `unauthenticated`. */
  async refresh(refreshToken: string): Promise<Session> {
    const [id = "", secret = ""] = refreshToken.split(".");
    const refreshed = await this.#options.database.write(async (repositories) => {
      const session = await repositories.sessions.find(id);
      const user = session && (await repositories.users.find(session.userId));
      if (!session || user?.status !== "active" || session.expiresAt.getTime() <= this.#options.runtime.now())
        return null;
      const successor = await this.#rotate(repositories, session, secret);
      if (successor !== null) return { session, user, successor };
      // A thrown error would roll back the deletion, so the error follows the transaction.
      await repositories.sessions.delete(session.id);
      return null;
    });
    if (refreshed === null) throw signInAgain();
    return this.#toSession(refreshed.session, refreshed.user, refreshed.successor);
  }

  /** Ends the session of a current or previous token. Ignores other tokens. */
  async end(refreshToken: string, address: string): Promise<void> {
    const [id = "", secret = ""] = refreshToken.split(".");
    await this.#options.database.write(async (repositories) => {
      const session = await repositories.sessions.find(id);
      const tokenHash = hash("sha256", secret);
      if (session?.tokenHash !== tokenHash && session?.previousTokenHash !== tokenHash) return;
      const user = await repositories.users.find(session.userId);
      await repositories.sessions.delete(id);
      if (user) await this.#options.audit.record(repositories, { ...user, address }, "user.signOut", user);
    });
  }

  async endAll(author: Author): Promise<void> {
    await this.#options.database.write(async (repositories) => {
      const sessions = await repositories.sessions.deleteOf(author.id);
      await this.#options.audit.record(repositories, author, "user.signOutEverywhere", author, { sessions });
    });
  }

  /** Whether the token is authentic and has not expired. Its session may have ended. */
  async findUserId(accessToken: string): Promise<string | null> {
    return (await this.#options.accessTokens.verify(accessToken))?.userId ?? null;
  }

  /** Reads the user from the database, so that a new role or status applies at once. Throws `unauthenticated`. */
  async authenticate(accessToken: string): Promise<Person> {
    const claims = await this.#options.accessTokens.verify(accessToken);
    if (claims === null) throw signInAgain();
    const { sessionId, userId } = claims;
    const user = await this.#options.database.read(async ({ sessions, users }) => {
      const session = await sessions.find(sessionId);
      const isOver = session === null || session.expiresAt.getTime() <= this.#options.runtime.now();
      return !isOver && session.userId === userId ? users.find(userId) : null;
    });
    if (user?.status !== "active") throw signInAgain();
    return { id: user.id, name: user.name, email: user.email, role: user.role, sessionId };
  }

  /** Returns the secret of the next token. Null for an invalid token. */
  async #rotate({ sessions }: Repositories, session: SessionRow, secret: string): Promise<string | null> {
    const tokenHash = hash("sha256", secret);
    const now = this.#options.runtime.now();
    // One for each JWT secret, newest first, because the current token may come from an older secret.
    const successors = this.#options.secrets.map((key) =>
      createHmac("sha256", key).update(`successor of ${secret}`).digest("base64url"),
    );
    const [successor] = successors;
    if (tokenHash === session.tokenHash && successor !== undefined) {
      // If another tab refreshes first, it gets the same successor.
      await sessions.rotate(session, hash("sha256", successor), new Date(now));
      return successor;
    }
    const isRecent = now - session.rotatedAt.getTime() <= graceMs;
    if (tokenHash !== session.previousTokenHash || !isRecent) return null;
    return successors.find((candidate) => hash("sha256", candidate) === session.tokenHash) ?? null;
  }

  async #toSession(session: SessionRow, user: UserRow, secret: string): Promise<Session> {
    return {
      ...(await this.#options.accessTokens.sign({ userId: user.id, sessionId: session.id })),
      user: describeUser(user),
      refreshToken: { value: `${session.id}.${secret}`, expiresAt: session.expiresAt },
    };
  }
}

const lifetimeMs = 30 * 24 * 60 * 60_000;
const graceMs = 10_000;

function signInAgain(): GatewayError {
  return new GatewayError(
    "unauthenticated",
    "You are not signed in, or your session has expired. Sign in again.",
  );
}
