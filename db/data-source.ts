import { chmodSync } from "node:fs";
import type Sqlite from "better-sqlite3";
import { DataSource, type DataSourceOptions } from "typeorm";
import { ApiKey, ApiKeyModel, ApiKeyValue, ApiKeyWithheldModel } from "./entities/api-key.ts";
import { AuditEntry } from "./entities/audit-entry.ts";
import { Change, Counter } from "./entities/change.ts";
import { DataKey } from "./entities/data-key.ts";
import { LimitEvent } from "./entities/limit-event.ts";
import { LimitUse } from "./entities/limit-use.ts";
import { AllowedModel, Limits } from "./entities/limits.ts";
import { Model, ModelFallback } from "./entities/model.ts";
import { Credential, Provider } from "./entities/provider.ts";
import { ProviderHalfHour } from "./entities/provider-half-hour.ts";
import { Team, TeamMember } from "./entities/team.ts";
import { UsageRecord } from "./entities/usage-record.ts";
import { UsageRollUp } from "./entities/usage-roll-up.ts";
import { Invitation, Session, User } from "./entities/user.ts";
import { migrations } from "./migrations/migrations.ts";
import type { MysqlLimits } from "./mysql-options.ts";
import { addSqliteFunctions } from "./sqlite-functions.ts";

/** Opens the database at a URL: `sqlite:<path>` (created if missing) or `mysql://…` (see mysql-url.ts). */
export async function openDataSource(url: string, limits: DataSourceLimits): Promise<DataSource> {
  const options = url.startsWith("sqlite:")
    ? sqliteOptions(url.slice("sqlite:".length))
    : await (await import("./mysql-options.ts")).mysqlOptions(url, limits);
  return new DataSource({ ...options, entities, migrations, migrationsTableName: "migrations" }).initialize();
}

export type DataSourceLimits = MysqlLimits;

const entities = [
  AllowedModel,
  ApiKey,
  ApiKeyModel,
  ApiKeyValue,
  ApiKeyWithheldModel,
  AuditEntry,
  Change,
  Counter,
  Credential,
  Invitation,
  DataKey,
  LimitEvent,
  LimitUse,
  Limits,
  Model,
  ModelFallback,
  Provider,
  ProviderHalfHour,
  Session,
  Team,
  TeamMember,
  UsageRecord,
  UsageRollUp,
  User,
];

function sqliteOptions(path: string): DataSourceOptions {
  if (path !== ":memory:") keepPrivate(path);
  return {
    type: "better-sqlite3",
    database: path,
    enableWAL: true,
    // The driver blocks the event loop, so longer waits for a lock are in `sqlite-operations.ts`.
    timeout: busyTimeoutMs,
    prepareDatabase: (connection: Sqlite.Database) => {
      // With a write-ahead log, a crash of the process loses nothing. A power failure can lose the last transactions.
      connection.pragma("synchronous = NORMAL");
      addSqliteFunctions(connection);
    },
  };
}

const busyTimeoutMs = 5;

/**
 * Restricts an existing database to its owner, because it holds hashes and email addresses. The umask
 * restricts new files.
 */
function keepPrivate(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      chmodSync(file, 0o600);
    } catch (error) {
      // The file is missing or belongs to another user.
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" && code !== "EPERM") throw error;
    }
  }
}
