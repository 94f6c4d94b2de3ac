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
import { LimitsRepository } from "./repositories/limits-repository.ts";
import { ModelRepository } from "./repositories/model-repository.ts";
import { ProviderHalfHourRepository } from "./repositories/provider-half-hour-repository.ts";
import { ProviderRepository } from "./repositories/provider-repository.ts";
import { SessionRepository } from "./repositories/session-repository.ts";
import { TeamRepository } from "./repositories/team-repository.ts";
import { UsageRecordRepository } from "./repositories/usage-record-repository.ts";
import { UsageRollUpRepository } from "./repositories/usage-roll-up-repository.ts";
import { UserRepository } from "./repositories/user-repository.ts";
import { WithheldModelRepository } from "./repositories/withheld-model-repository.ts";
import { SideReads } from "./side/side-reads.ts";
import { SqliteOperations, untilFree } from "./sqlite-operations.ts";
import { keepUsagePartitions, type PartitionPlan } from "./usage-partitions.ts";
import { WriteHealth } from "./write-health.ts";

/**
 * A `write` is one transaction, and runs `work` again after a deadlock. A `read` has no transaction, so its
 * queries may see different states. Both throw the errors of `database-errors.ts`.
 */
export class Database {
  readonly #dataSource: DataSource;
  readonly #timeoutMs: number;
  readonly #sqlite: SqliteOperations | null;
  readonly #openWithoutHurry: () => Promise<DataSource>;
  readonly writeHealth = new WriteHealth(() => this.write(({ changes }) => changes.lock()));
  readonly #sideReads: SideReads | null;

  private constructor(dataSource: DataSource, url: string, limits: DatabaseLimits) {
    this.#dataSource = dataSource;
    this.#timeoutMs = limits.operationTimeoutMs;
    const isSqlite = dataSource.options.type === "better-sqlite3";
    this.#sqlite = isSqlite ? new SqliteOperations(dataSource, this.#timeoutMs) : null;
    this.#openWithoutHurry = () => openDataSource(url, { ...limits, connectionsMax: 2 });
    const path = url.slice("sqlite:".length);
    this.#sideReads = isSqlite && path !== ":memory:" ? new SideReads({ dataSource, path, limits }) : null;
  }

  /** If migrations are pending, call `migrate` before the first read or write. */
  static async open(url: string, limits: DatabaseLimits): Promise<Database> {
    try {
      const answerTimeoutMs = limits.operationTimeoutMs;
      const open = () => openDataSource(url, { ...limits, answerTimeoutMs });
      return new Database(await untilFree(performance.now() + answerTimeoutMs, open), url, limits);
    } catch (error) {
      throw fromDriverError(error);
    }
  }

  /** Applies the pending migrations and returns their names. */
  async migrate(): Promise<string[]> {
    if ((await this.pendingMigrations()).length === 0) return [];
    if (this.#sqlite) return this.#sqlite.migrate(migrate);
    // Migrating a large table can take longer than `operationTimeoutMs`.
    const dataSource = await this.#openWithoutHurry();
    try {
      return await migrate(dataSource);
    } finally {
      await dataSource.destroy();
    }
  }

  async pendingMigrations(): Promise<string[]> {
    try {
      return await untilFree(performance.now() + this.#timeoutMs, () => pendingMigrations(this.#dataSource));
    } catch (error) {
      throw fromDriverError(error);
    }
  }

  read<Result>(work: (repositories: Repositories) => Promise<Result>): Promise<Result> {
    const { manager } = this.#dataSource;
    return this.#run(
      () => this.#sqlite?.read(() => work(repositoriesOf(manager))) ?? work(repositoriesOf(manager)),
    );
  }

  async write<Result>(work: (repositories: Repositories) => Promise<Result>): Promise<Result> {
    const workOn = (manager: EntityManager) => work(repositoriesOf(manager));
    try {
      const result = await this.#run(() => this.#sqlite?.write(workOn) ?? this.#transaction(workOn));
      this.writeHealth.succeeded();
      return result;
    } catch (error) {
      this.writeHealth.failed(error);
      throw error;
    }
  }

  /**
   * A `read` that may be slow. On SQLite, another thread answers, so that it delays no stream. It must not call `ask`.
   * @param asker people take turns, each with one question
   */
  async ask<Result>(
    asker: { id: string } | null,
    work: (repositories: Repositories) => Promise<Result>,
  ): Promise<Result> {
    if (!this.#sideReads) return this.read(work);
    try {
      return await this.#sideReads.read(asker?.id ?? "", (manager) => work(repositoriesOf(manager)));
    } catch (error) {
      throw fromDriverError(error);
    }
  }

  get isSqlite(): boolean {
    return this.#sqlite !== null;
  }

  /** Returns the names of the dropped partitions. `operationTimeoutMs` applies to each statement. */
  async keepUsagePartitions(plan: PartitionPlan): Promise<string[]> {
    try {
      return await keepUsagePartitions(this.#dataSource, plan);
    } catch (error) {
      throw fromDriverError(error);
    }
  }

  async close(): Promise<void> {
    await this.#sideReads?.close();
    this.writeHealth.close();
    await this.#sqlite?.ended();
    // A frozen server would never confirm the end of the connection.
    await withTimeout(this.#dataSource.destroy(), this.#timeoutMs).catch(() => {});
  }

  async #transaction<Result>(
    work: (manager: EntityManager) => Promise<Result>,
    attempt = 1,
  ): Promise<Result> {
    try {
      // Above READ COMMITTED, MySQL locks gaps between rows, and writers of unrelated rows block one another.
      return await this.#dataSource.transaction("READ COMMITTED", work);
    } catch (error) {
      if (!isDeadlock(error) || attempt === deadlockAttemptsMax) throw error;
      await pause(Math.random() * Math.min(10 * 2 ** attempt, deadlockPauseMsMax));
      return this.#transaction(work, attempt + 1);
    }
  }

  async #run<Result>(operation: () => Promise<Result>): Promise<Result> {
    try {
      return await withTimeout(operation(), this.#timeoutMs);
    } catch (error) {
      throw fromDriverError(error);
    }
  }
}

export type DatabaseLimits = DataSourceLimits & { operationTimeoutMs: number };

export type Repositories = ReturnType<typeof repositoriesOf>;

const deadlockAttemptsMax = 10;
/** Long enough for a large concurrent transaction to commit. */
const deadlockPauseMsMax = 1_000;

function repositoriesOf(manager: EntityManager) {
  return {
    apiKeys: new ApiKeyRepository(manager),
    auditEntries: new AuditEntryRepository(manager),
    changes: new ChangeRepository(manager),
    invitations: new InvitationRepository(manager),
    dataKeys: new DataKeyRepository(manager),
    limitEvents: new LimitEventRepository(manager),
    limitUses: new LimitUseRepository(manager),
    limits: new LimitsRepository(manager),
    models: new ModelRepository(manager),
    providerHalfHours: new ProviderHalfHourRepository(manager),
    providers: new ProviderRepository(manager),
    sessions: new SessionRepository(manager),
    teams: new TeamRepository(manager),
    usageRecords: new UsageRecordRepository(manager),
    usageRollUps: new UsageRollUpRepository(manager),
    users: new UserRepository(manager),
    withheldModels: new WithheldModelRepository(manager),
  };
}

/** Throws a `DatabaseUnavailableError`, because a frozen server never answers. */
async function withTimeout<Result>(result: Promise<Result>, timeoutMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new DatabaseUnavailableError(`The database did not respond within ${timeoutMs} ms.`));
    }, timeoutMs);
  });
  try {
    return await Promise.race([result, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
