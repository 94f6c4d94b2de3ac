import type Sqlite from "better-sqlite3";
import mysql from "mysql2/promise";
import { DataSource, type DataSourceOptions } from "typeorm";
import { QueryTooLongError } from "./database-errors.ts";
import { ApiKey, ApiKeyModel, ApiKeyValue } from "./entities/api-key.ts";
import { AuditEntry } from "./entities/audit-entry.ts";
import { Change, Counter } from "./entities/change.ts";
import { Model, ModelFallback } from "./entities/model.ts";
import { Credential, Provider } from "./entities/provider.ts";
import { UsageRecord } from "./entities/usage-record.ts";
import { UsageRollUp } from "./entities/usage-roll-up.ts";
import { Invitation, Session, User } from "./entities/user.ts";
import { migrations } from "./migrations/migrations.ts";

/**
 * Opens the database behind a URL: `sqlite:<path>` (embedded, created when absent) or
 * `mysql://user:password@host:3306/name?ssl=true` (MySQL or MariaDB, told apart by asking).
 */
export async function openDataSource(url: string, limits: DataSourceLimits): Promise<DataSource> {
  const options = url.startsWith("sqlite:")
    ? sqliteOptions(url.slice("sqlite:".length))
    : await mysqlOptions(new URL(url), limits);
  return new DataSource({ ...options, entities, migrations, migrationsTableName: "migrations" }).initialize();
}

export type DataSourceLimits = { connectionsMax: number; connectTimeoutMs: number };

const entities = [
  ApiKey,
  ApiKeyModel,
  ApiKeyValue,
  AuditEntry,
  Change,
  Counter,
  Credential,
  Invitation,
  Model,
  ModelFallback,
  Provider,
  Session,
  UsageRecord,
  UsageRollUp,
  User,
];

function sqliteOptions(path: string): DataSourceOptions {
  return {
    type: "better-sqlite3",
    database: path,
    enableWAL: true,
    prepareDatabase: (connection: Sqlite.Database) => {
      // Another process of ours may be migrating; waiting beats failing.
      connection.pragma("busy_timeout = 5000");
      // With a write-ahead log this is safe against a crash of the process; only a power cut can lose the last moments.
      connection.pragma("synchronous = NORMAL");
      // A statement blocks the whole process and cannot be interrupted, but this can end it: see `usage-queries.ts`.
      connection.function("in_time", (deadline) => {
        if (performance.now() > Number(deadline)) throw new QueryTooLongError("The query took too long.");
        return 1;
      });
      // SQLite's own knows the 26 letters only, and names are searched whatever their case.
      connection.function("lower", { deterministic: true }, (text) =>
        typeof text === "string" ? text.toLowerCase() : text,
      );
    },
  };
}

async function mysqlOptions(url: URL, limits: DataSourceLimits): Promise<DataSourceOptions> {
  const address = {
    host: url.hostname,
    port: url.port === "" ? 3306 : Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    ...(wantsTls(url) && { ssl: { rejectUnauthorized: true } }),
    connectTimeout: limits.connectTimeoutMs,
  };
  const { user: username, ...rest } = address;
  return {
    ...rest,
    username,
    type: await serverKind(address),
    timezone: "Z",
    charset: "utf8mb4_bin",
    extra: { connectionLimit: limits.connectionsMax, queueLimit: 1_000, enableKeepAlive: true },
  };
}

/** TypeORM sees drift in every nullable column when MariaDB is called MySQL, so the server is asked what it is. */
async function serverKind(address: mysql.ConnectionOptions): Promise<"mariadb" | "mysql"> {
  const connection = await mysql.createConnection(address);
  try {
    const [rows] = await connection.query<mysql.RowDataPacket[]>("SELECT VERSION() AS version");
    return /mariadb/i.test(String(rows[0]?.["version"])) ? "mariadb" : "mysql";
  } finally {
    await connection.end();
  }
}

function wantsTls(url: URL): boolean {
  const ssl = url.searchParams.get("ssl");
  return ssl !== null && !["", "0", "false", "disabled"].includes(ssl.toLowerCase());
}
