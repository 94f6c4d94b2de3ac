import { createHmac, timingSafeEqual } from "node:crypto";
import type { Database, Repositories } from "../../db/database.ts";
import type { UserRow } from "../../db/entities/user.ts";
import type { AuditLog } from "../audit/audit-log.ts";
import { GatewayError } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import { type Author, newUser, normalizeEmail } from "./person.ts";
import type { PasswordHasher } from "./password-hasher.ts";
import type { Session, SessionService, SignedInUser } from "./session-service.ts";
import { SignInLimiter } from "./sign-in-limiter.ts";

type AccountServiceOptions = {
  database: Database;
  runtime: Runtime;
  sessions: SessionService;
  passwords: PasswordHasher;
  secrets: string[];
  audit: AuditLog;
};

type PublicPerson = Omit<SignedInUser, "actions">;

type NewAccount = { name: string; email: string; password: string };

/** Setup, sign-in, and changes by users to their own accounts. */
export class AccountService {
  readonly #options: AccountServiceOptions;
  readonly #limiter: SignInLimiter;
  /** Allows creating the first administrator. Every process derives it from the newest JWT secret. */
  readonly setUpToken: string;
  /** Whether the configuration's administrator was created. Sign-ins and setups wait for it. */
  #firstAdministrator: Promise<boolean> = Promise.resolve(false);

  constructor(options: AccountServiceOptions) {
    this.#options = options;
    this.#limiter = new SignInLimiter(options.runtime);
    this.setUpToken = createHmac("sha256", options.secrets[0] ?? "")
      .update("set up")
      .digest("base64url");
  }

  async isSetUp(): Promise<boolean> {
    await this.#firstAdministrator;
    return this.#hasUser();
  }

  isSetUpToken(token: string): boolean {
    return isSame(token, this.setUpToken);
  }

  /** Creates the first administrator. Throws `forbidden` for a wrong token, or if a user exists. */
  async setUp(token: string, account: NewAccount, address: string): Promise<Session> {
    if (!this.isSetUpToken(token)) {
      const message = "This setup token is invalid. Use the link that the gateway prints at startup.";
      throw new GatewayError("forbidden", message, { param: "token" });
    }
    await this.#firstAdministrator;
    const user = await this.#newAdministrator(account);
    return this.#options.database.write(async (repositories) => {
      if (!(await insertFirst(repositories, user))) {
        throw new GatewayError("forbidden", "An administrator already exists. Sign in instead.");
      }
      await this.#options.audit.record(repositories, { ...user, address }, "user.setUp", user);
      return this.#options.sessions.start(repositories, user);
    });
  }

  /** Returns false, without a change, if a user exists. */
  createFirstAdministrator(account: Omit<NewAccount, "name">): Promise<boolean> {
    this.#firstAdministrator = this.#createFirstAdministrator(account);
    return this.#firstAdministrator;
  }

  /**
   * Throws `unauthenticated`, `too_many_attempts` or `service_unavailable`.
   * @param address the client's IP address, whose attempts are limited too
   */
  async signIn(email: string, password: string, address: string): Promise<Session> {
    await this.#firstAdministrator;
    const account = normalizeEmail(email);
    const checked = await this.#limiter.attempt(account, address, async () => {
      const user = await this.#options.database.read(({ users }) => users.findByEmail(account));
      const isRight = await this.#options.passwords.verify(password, user?.passwordHash || null);
      return { user, isRight: isRight && user?.status === "active" };
    });
    const { user, isRight, attempts, isNotable } = checked;
    if (!user || !isRight) {
      // The call is not awaited, because a delay would reveal which accounts exist.
      if (user && isNotable) void this.#recordFailure(user, attempts, address);
      throw signInRefused();
    }
    return this.#options.database.write(async (repositories) => {
      await this.#options.audit.record(repositories, { ...user, address }, "user.signIn", user);
      const session = await this.#options.sessions.start(repositories, user);
      // Starting the session locks the user's row. A concurrent password change waits and then ends this
      // session, or has finished and makes this check fail.
      const current = await repositories.users.find(user.id);
      if (current?.passwordHash !== user.passwordHash || current.status !== "active") throw signInRefused();
      return session;
    });
  }

  /** Ends the user's other sessions. Throws `forbidden` for a wrong current password, or `too_many_attempts`. */
  async changePassword(person: Author, currentPassword: string, newPassword: string): Promise<void> {
    const { user, isRight } = await this.#limiter.attempt(person.email, person.address, async () => {
      const found = await this.#options.database.read(({ users }) => users.find(person.id));
      const isSame = await this.#options.passwords.verify(currentPassword, found?.passwordHash || null);
      return { user: found, isRight: isSame };
    });
    if (!user || !isRight) throw wrongPassword();
    const passwordHash = await this.#options.passwords.hash(newPassword);
    await this.#options.database.write(async (repositories) => {
      const { users, invitations } = repositories;
      // Another change, such as a reset link, may have replaced the password and ended this session.
      if (!(await users.replacePassword(person.id, user.passwordHash, passwordHash))) throw wrongPassword();
      // An earlier reset link must not replace the new password.
      await invitations.deleteOf(person.id);
      await repositories.sessions.deleteOthers(person.id, person.sessionId);
      await this.#options.audit.record(repositories, person, "user.changePassword", person);
    });
  }

  async rename(person: Author, name: string): Promise<PublicPerson> {
    const { id, email, role } = person;
    return this.#options.database.write(async (repositories) => {
      await repositories.users.update(id, { name });
      const details = { from: person.name, to: name };
      await this.#options.audit.record(repositories, person, "user.rename", { id, name }, details);
      return { id, name, email, role };
    });
  }

  async #createFirstAdministrator(account: Omit<NewAccount, "name">): Promise<boolean> {
    if (await this.#hasUser()) return false;
    const user = await this.#newAdministrator({ ...account, name: "Administrator" });
    return this.#options.database.write((repositories) => insertFirst(repositories, user));
  }

  async #hasUser(): Promise<boolean> {
    return (await this.#options.database.read(({ users }) => users.count())) > 0;
  }

  async #recordFailure(user: UserRow, attempts: number, address: string): Promise<void> {
    try {
      const stranger = { id: null, name: null, address };
      await this.#options.database.write((repositories) =>
        this.#options.audit.record(repositories, stranger, "user.signInFailed", user, { attempts }),
      );
    } catch (error) {
      this.#options.runtime.log.warn({ error }, "cannot record a failed sign-in");
    }
  }

  async #newAdministrator({ name, email, password }: NewAccount): Promise<UserRow> {
    const passwordHash = await this.#options.passwords.hash(password);
    return newUser(this.#options.runtime, { name, email, passwordHash, role: "admin", status: "active" });
  }
}

/** Only one of several concurrent calls succeeds. The others wait for the lock and then find a user. */
async function insertFirst({ changes, users }: Repositories, user: UserRow): Promise<boolean> {
  await changes.lock();
  if ((await users.count()) > 0) return false;
  await users.insert(user);
  return true;
}

function signInRefused(): GatewayError {
  return new GatewayError("unauthenticated", "The email address or the password is wrong. Check both.");
}

function wrongPassword(): GatewayError {
  return new GatewayError("forbidden", "The current password is wrong. Enter it again.", {
    param: "currentPassword",
  });
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
