import { randomBytes } from "node:crypto";
import path from "node:path";
import type { ExecutionContext } from "ava";
import { isFull } from "./scale.ts";
import { copySqliteSchema, serverSchema } from "./schema-templates.ts";
import { createTestFolder } from "./test-folder.ts";

/**
 * Returns the DATABASE_URL of a new, empty database, which is deleted with the test. Teardowns that the test adds
 * later run before the deletion, and must close all connections.
 */
export async function createTestDatabase(t: Teardown, kind: DatabaseKind | undefined): Promise<string> {
  return kind === "sqlite" ? createSqliteDatabase(t) : createServerDatabase(t, kind);
}

/**
 * Returns the DATABASE_URL of a new database with the current schema, or an empty one without templates. The
 * database is deleted with the test.
 */
export async function createMigratedDatabase(t: Teardown, kind: DatabaseKind | undefined): Promise<string> {
  const url = await createTestDatabase(t, kind);
  if (kind === "sqlite") await copySqliteSchema(url.slice("sqlite:".length));
  else await execute(url, await serverSchema(kind ?? ""));
  return url;
}

export type ServerKind = "mariadb" | "mysql";
export type DatabaseKind = "sqlite" | ServerKind;

const serverUrls = { mariadb: process.env.TEST_MARIADB_URL, mysql: process.env.TEST_MYSQL_URL };

/** The database servers of this run. `npm test` starts them and sets the variables of their URLs. */
export const serverKinds: ServerKind[] = (["mariadb", "mysql"] as const).filter((kind) => serverUrls[kind]);

/** The databases for tests of the schema and of queries: `for (const kind of allDatabaseKinds) test(…)`. */
export const allDatabaseKinds: DatabaseKind[] = ["sqlite", ...serverKinds];

/** The databases for all other tests: SQLite and one server, except at full scale. */
export const databaseKinds: DatabaseKind[] = isFull ? allDatabaseKinds : allDatabaseKinds.slice(0, 2);

/** The databases for tests of locks and transactions: SQLite and production's server, except at full scale. */
export const lockingKinds: DatabaseKind[] = isFull
  ? allDatabaseKinds
  : [...new Set(["sqlite" as const, ...allDatabaseKinds.slice(-1)])];

/** The server for tests of several processes: the one that production uses, if available. */
export const serverKind = serverKinds.at(-1);

type Teardown = Pick<ExecutionContext, "teardown">;

async function createSqliteDatabase(t: Teardown): Promise<string> {
  return `sqlite:${path.join(await createTestFolder(t), "gateway.db")}`;
}

export async function createServerDatabase(t: Teardown, kind = serverKind): Promise<string> {
  const server = kind && serverUrls[kind];
  if (!server) throw new Error("There is no such server: take the kind from serverKinds");
  const name = `test_${randomBytes(8).toString("hex")}`;
  await execute(server, `CREATE DATABASE ${name}`);
  t.teardown(() => execute(server, `DROP DATABASE ${name}`));
  return Object.assign(new URL(server), { pathname: name }).href;
}

async function execute(uri: string, statements: string): Promise<void> {
  if (statements === "") return;
  const { createConnection } = await import("mysql2/promise");
  // By default, a connection fails after 10 s, which a busy machine can take.
  const connection = await createConnection({ uri, multipleStatements: true, connectTimeout: 60_000 });
  try {
    await connection.query(statements);
  } finally {
    await connection.end();
  }
}
