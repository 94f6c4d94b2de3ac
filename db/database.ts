import { setTimeout as pause } from "node:timers/promises";
import type { DataSource, EntityManager } from "typeorm";
import { DatabaseUnavailableError, fromDriverError, isDeadlock } from "./database-errors.ts";
import { type DataSourceLimits, openDataSource } from "./data-source.ts";
import { migrate, pendingMigrations } from "./migrate.ts";
import { ApiKeyRepository } from "./repositories/api-key-repository.ts";
import { AuditEntryRepository } from "./repositories/audit-entry-repository.ts";
import { ChangeRepository } from "./repositories/change-repository.ts";
import { InvitationRepository } from "./repositories/invitation-repository.ts";
import { DataKeyRepository } from "./repositories/data-key-repository.ts";
import { LimitEventRepository } from "./repositories/limit-event-repository.ts";
import { LimitUseRepository } from "./repositories/limit-use-repository.ts";
import { ModelRepository } from "./repositories/model-repository.ts";
import { ProviderRepository } from "./repositories/provider-repository.ts";
import { sqliteOf } from "./repositories/raw-sql.ts";
import { SessionRepository } from "./repositories/session-repository.ts";
import { UsageRecordRepository } from "./repositories/usage-record-repository.ts";
import { UsageRollUpRepository } from "./repositories/usage-roll-up-repository.ts";
import { UserRepository } from "./repositories/user-repository.ts";
import { WithheldModelRepository } from "./repositories/withheld-model-repository.ts";
import { keepUsagePartitions, type PartitionPlan } from "./usage-partitions.ts";

/**
 * The one way to the database. Everything that is written together is one `write`, which is a transaction; everything
 * that is read together is one `read`. Both throw the errors of `database-errors.ts`.
 */
export class Database {
  readonly #dataSource: DataSource;
  readonly #timeoutMs: number;
  readonly #isSqlite: boolean;
  readonly #openWithoutHurry: () => Promise<DataSource>;
  #tail: Promise<unknown> = Promise.resolve();

  private constructor(dataSource: DataSource, url: string, limits: DatabaseLimits) {
    this.#dataSource = dataSource;
    this.#timeoutMs = limits.operationTimeoutMs;
    this.#isSqlite = dataSource.options.type === "better-sqlite3";
    this.#openWithoutHurry = () => openDataSource(url, { ...limits, connectionsMax: 2 });
  }

  /** Connects. `migrate` has to run before anything else if the schema may be old. */
  static async open(url: string, limits: DatabaseLimits): Promise<Database> {
    try {
      const answerTimeoutMs = limits.operationTimeoutMs;
      return new Database(await openDataSource(url, { ...limits, answerTimeoutMs }), url, limits);
    } catch (error) {
      throw fromDriverError(error);
    }
  }

  /** Brings the schema up to date; returns the names of the migrations that ran. */
  async migrate(): Promise<string[]> {
    if ((await this.pendingMigrations()).length === 0) return [];
    if (this.#isSqlite) return migrate(this.#dataSource);
    // A migration of a large table takes its time: connections that give up on slow answers would undo it.
    const dataSource = await this.#openWithoutHurry();
    try {
      return await migrate(dataSource);
    } finally {
      await dataSource.destroy();
    }
  }

  /** The names of the migrations that `migrate` would run. Changes nothing. */
  pendingMigrations(): Promise<string[]> {
    return pendingMigrations(this.#dataSource);
  }

  read<Result>(work: (repositories: Repositories) => Promise<Result>): Promise<Result> {
    return this.#run(() => work(repositoriesOf(this.#dataSource.manager)));
  }

  write<Result>(work: (repositories: Repositories) => Promise<Result>): Promise<Result> {
    return this.#run(() => this.#transaction(work));
  }

  /** Whether it is the embedded database, which has one writer and no partitions. */
  get isSqlite(): boolean {
    return this.#isSqlite;
  }

  /** On MySQL only; see `usage-partitions.ts`. It may take as long as it takes. */
  async keepUsagePartitions(plan: PartitionPlan): Promise<string[]> {
    try {
      return await keepUsagePartitions(this.#dataSource, plan);
    } catch (error) {
      throw fromDriverError(error);
    }
  }

  async close(): Promise<void> {
    await this.#tail;
    // A server that is frozen would not even say good-bye.
    await withTimeout(this.#dataSource.destroy(), this.#timeoutMs).catch(() => {});
  }

  async #transaction<Result>(
    work: (repositories: Repositories) => Promise<Result>,
    attempt = 1,
  ): Promise<Result> {
    try {
      // Above READ COMMITTED, MySQL locks the gaps where a row could be, and writers of unrelated rows meet in them.
      // SQLite knows no such level, and needs none: nothing else runs meanwhile.
      const isolation = this.#isSqlite ? "SERIALIZABLE" : "READ COMMITTED";
      return await this.#dataSource.transaction(isolation, (manager) => {
        lockSqlite(manager);
        return work(repositoriesOf(manager));
      });
    } catch (error) {
      if (!isDeadlock(error) || attempt === deadlockAttemptsMax) throw error;
      await pause(Math.random() * Math.min(10 * 2 ** attempt, deadlockPauseMsMax));
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

const deadlockAttemptsMax = 10;
const deadlockPauseMsMax = 200;

function repositoriesOf(manager: EntityManager) {
  return {
    apiKeys: new ApiKeyRepository(manager),
    auditEntries: new AuditEntryRepository(manager),
    changes: new ChangeRepository(manager),
    invitations: new InvitationRepository(manager),
    dataKeys: new DataKeyRepository(manager),
    limitEvents: new LimitEventRepository(manager),
    limitUses: new LimitUseRepository(manager),
    models: new ModelRepository(manager),
    providers: new ProviderRepository(manager),
    sessions: new SessionRepository(manager),
    usageRecords: new UsageRecordRepository(manager),
    usageRollUps: new UsageRollUpRepository(manager),
    users: new UserRepository(manager),
    withheldModels: new WithheldModelRepository(manager),
  };
}

/**
 * SQLite's transactions begin as readers, and one that writes later fails at once if another process has written or is
 * writing. At its first statement it waits for its turn, so that is one that writes, if only no row: TypeORM has no way to
 * say BEGIN IMMEDIATE.
 */
function lockSqlite(manager: EntityManager): void {
  sqliteOf(manager)?.prepare("DELETE FROM counters WHERE FALSE").run();
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
