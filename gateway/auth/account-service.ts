import { createHmac, timingSafeEqual } from "node:crypto";
import type { Database, Repositories } from "../../db/database.ts";
import type { Role, UserRow } from "../../db/entities/user.ts";
import { GatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import type { Runtime } from "../runtime.ts";
import { hashPassword, verifyPassword } from "./passwords.ts";
import type { Person } from "./person.ts";
import type { Session, SessionService } from "./session-service.ts";
import { SignInLimiter } from "./sign-in-limiter.ts";

type AccountServiceOptions = {
  database: Database;
  runtime: Runtime;
  sessions: SessionService;
  secrets: string[];
};

type NewAccount = { name: string; email: string; password: string };

/** The people of the console: the first one, signing in, changing a password. */
export class AccountService {
  readonly #database: Database;
  readonly #runtime: Runtime;
  readonly #sessions: SessionService;
  readonly #limiter = new SignInLimiter();
  /**
   * Lets its holder become the first administrator. Computed, so that every process and every start before that accepts
   * the same one, and nothing has to be stored.
   */
  readonly setUpToken: string;

  constructor({ database, runtime, sessions, secrets }: AccountServiceOptions) {
    this.#database = database;
    this.#runtime = runtime;
    this.#sessions = sessions;
    this.setUpToken = createHmac("sha256", secrets[0] ?? "")
      .update("set up")
      .digest("base64url");
  }

  async isSetUp(): Promise<boolean> {
    return (await this.#database.read(({ users }) => users.count())) > 0;
  }

  /** Makes the first administrator and signs them in. Throws `forbidden` for a wrong token and once there is one. */
  async setUp(token: string, account: NewAccount): Promise<Session> {
    if (!isSame(token, this.setUpToken)) {
      throw new GatewayError(
        "forbidden",
        "This set-up token is not valid. The gateway prints the right one when it starts.",
        {
          param: "token",
        },
      );
    }
    const user = await this.#newUser(account, "admin");
    return this.#database.write(async (repositories) => {
      if (!(await insertFirst(repositories, user))) {
        throw new GatewayError("forbidden", "There is an administrator already. Sign in instead.");
      }
      return this.#sessions.start(repositories, user);
    });
  }

  /** The administrator from the configuration, if there is nobody yet. Returns whether one was made. */
  async createFirstAdministrator(account: Omit<NewAccount, "name">): Promise<boolean> {
    if (await this.isSetUp()) return false;
    const user = await this.#newUser({ ...account, name: "Administrator" }, "admin");
    return this.#database.write((repositories) => insertFirst(repositories, user));
  }

  /** @param address the client's IP address, which is limited too. Throws `unauthenticated`, `too_many_attempts`. */
  async signIn(email: string, password: string, address: string): Promise<Session> {
    const account = normalizeEmail(email);
    await this.#limiter.countAttempt(account, address);
    const user = await this.#database.read(({ users }) => users.findByEmail(account));
    const isRight = await verifyPassword(password, user?.passwordHash ?? null);
    if (!user || !isRight || user.status !== "active") {
      throw new GatewayError("unauthenticated", "The e-mail address or the password is wrong.");
    }
    await this.#limiter.forgive(account, address);
    return this.#database.write((repositories) => this.#sessions.start(repositories, user));
  }

  /** Changes the password and ends every other session of the person. Throws `forbidden` for a wrong current one. */
  async changePassword(
    person: Person,
    currentPassword: string,
    newPassword: string,
    address: string,
  ): Promise<void> {
    await this.#limiter.countAttempt(person.email, address);
    const user = await this.#database.read(({ users }) => users.find(person.id));
    if (!user || !(await verifyPassword(currentPassword, user.passwordHash))) {
      throw new GatewayError("forbidden", "The current password is wrong.", { param: "currentPassword" });
    }
    await this.#limiter.forgive(person.email, address);
    const passwordHash = await hashPassword(newPassword, this.#runtime);
    await this.#database.write(async ({ users, sessions }) => {
      await users.updatePassword(person.id, passwordHash);
      await sessions.deleteOthers(person.id, person.sessionId);
    });
  }

  async #newUser({ name, email, password }: NewAccount, role: Role): Promise<UserRow> {
    return {
      id: createId("usr", this.#runtime),
      email: normalizeEmail(email),
      name,
      passwordHash: await hashPassword(password, this.#runtime),
      role,
      status: "active",
      createdAt: new Date(this.#runtime.now()),
    };
  }
}

/** Of several who try at once one succeeds: the others wait for the lock, and then there is somebody. */
async function insertFirst({ changes, users }: Repositories, user: UserRow): Promise<boolean> {
  await changes.lock();
  if ((await users.count()) > 0) return false;
  await users.insert(user);
  return true;
}

function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
