import { setTimeout as pause } from "node:timers/promises";
import type { DataSource, EntityManager } from "typeorm";
import { DatabaseUnavailableError, fromDriverError, isDeadlock } from "./database-errors.ts";
import { type DataSourceLimits, openDataSource } from "./data-source.ts";
import { migrate } from "./migrate.ts";
import { ApiKeyRepository } from "./repositories/api-key-repository.ts";
import { AuditEntryRepository } from "./repositories/audit-entry-repository.ts";
import { ChangeRepository } from "./repositories/change-repository.ts";
import { InvitationRepository } from "./repositories/invitation-repository.ts";
import { ModelRepository } from "./repositories/model-repository.ts";
import { ProviderRepository } from "./repositories/provider-repository.ts";
import { SessionRepository } from "./repositories/session-repository.ts";
import { UsageRecordRepository } from "./repositories/usage-record-repository.ts";
import { UsageRollUpRepository } from "./repositories/usage-roll-up-repository.ts";
import { UserRepository } from "./repositories/user-repository.ts";

/**
 * The one way to the database. Everything that is written together is one `write`, which is a transaction; everything
 * that is read together is one `read`. Both throw the errors of `database-errors.ts`.
 */
export class Database {
  readonly #dataSource: DataSource;
  readonly #timeoutMs: number;
  readonly #isSqlite: boolean;
  #tail: Promise<unknown> = Promise.resolve();

  private constructor(dataSource: DataSource, timeoutMs: number) {
    this.#dataSource = dataSource;
    this.#timeoutMs = timeoutMs;
    this.#isSqlite = dataSource.options.type === "better-sqlite3";
  }

  /** Connects. `migrate` has to run before anything else if the schema may be old. */
  static async open(url: string, limits: DatabaseLimits): Promise<Database> {
    try {
      return new Database(await openDataSource(url, limits), limits.operationTimeoutMs);
    } catch (error) {
      throw fromDriverError(error);
    }
  }

  /** Brings the schema up to date; returns the names of the migrations that ran. */
  migrate(): Promise<string[]> {
    return migrate(this.#dataSource);
  }

  read<Result>(work: (repositories: Repositories) => Promise<Result>): Promise<Result> {
    return this.#run(() => work(repositoriesOf(this.#dataSource.manager)));
  }

  write<Result>(work: (repositories: Repositories) => Promise<Result>): Promise<Result> {
    return this.#run(() => this.#transaction(work));
  }

  async close(): Promise<void> {
    await this.#tail;
    await this.#dataSource.destroy();
  }

  async #transaction<Result>(
    work: (repositories: Repositories) => Promise<Result>,
    attempt = 1,
  ): Promise<Result> {
    try {
      // Above READ COMMITTED, MySQL locks the gaps where a row could be, and writers of unrelated rows meet in them.
      // SQLite knows no such level, and needs none: nothing else runs meanwhile.
      const isolation = this.#isSqlite ? "SERIALIZABLE" : "READ COMMITTED";
      return await this.#dataSource.transaction(isolation, (manager) => work(repositoriesOf(manager)));
    } catch (error) {
      if (!isDeadlock(error) || attempt === deadlockAttemptsMax) throw error;
      await pause(Math.random() * deadlockPauseMsMax * attempt);
      return this.#transaction(work, attempt + 1);
    }
  }

  async #run<Result>(operation: () => Promise<Result>): Promise<Result> {
    const result = this.#isSqlite ? this.#enqueue(operation) : operation();
    try {
      return await withTimeout(result, this.#timeoutMs);
    } catch (error) {
      throw fromDriverError(error);
    }
  }

  /**
   * TypeORM has one SQLite connection: two transactions at once fail, and whatever else runs while one is open is
   * undone with it or sees what is not yet committed. So there everything waits for its turn.
   */
  #enqueue<Result>(operation: () => Promise<Result>): Promise<Result> {
    const result = this.#tail.then(operation);
    this.#tail = result.catch(() => {});
    return result;
  }
}

export type DatabaseLimits = DataSourceLimits & { operationTimeoutMs: number };

export type Repositories = ReturnType<typeof repositoriesOf>;

const deadlockAttemptsMax = 6;
const deadlockPauseMsMax = 20;

function repositoriesOf(manager: EntityManager) {
  return {
    apiKeys: new ApiKeyRepository(manager),
    auditEntries: new AuditEntryRepository(manager),
    changes: new ChangeRepository(manager),
    invitations: new InvitationRepository(manager),
    models: new ModelRepository(manager),
    providers: new ProviderRepository(manager),
    sessions: new SessionRepository(manager),
    usageRecords: new UsageRecordRepository(manager),
    usageRollUps: new UsageRollUpRepository(manager),
    users: new UserRepository(manager),
  };
}

/** A frozen server never answers; whoever asked must not wait for it. */
async function withTimeout<Result>(result: Promise<Result>, timeoutMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new DatabaseUnavailableError(`The database did not answer within ${timeoutMs} ms.`));
    }, timeoutMs);
  });
  try {
    return await Promise.race([result, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
