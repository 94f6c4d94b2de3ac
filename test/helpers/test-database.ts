import { randomBytes } from "node:crypto";
import path from "node:path";
import type { ExecutionContext } from "ava";
import { hangMs } from "./eventually.ts";
import { isFull } from "./scale.ts";
import { copySqliteSchema, haveTemplates, migrate, serverSchema } from "./schema-templates.ts";
import { createTestFolder } from "./test-folder.ts";

/**
 * Creates an empty database that is deleted after the test, and returns its DATABASE_URL. Later teardowns run first,
 * so they close the connections before the deletion.
 */
export async function createTestDatabase(t: Teardown, kind: DatabaseKind | undefined): Promise<string> {
  return kind === "sqlite" ? createSqliteDatabase(t) : createServerDatabase(t, kind);
}

/** Creates a database like `createTestDatabase`, but with the current schema. */
export async function createMigratedDatabase(t: Teardown, kind: DatabaseKind | undefined): Promise<string> {
  const url = await createTestDatabase(t, kind);
  if (!haveTemplates) await migrate(url);
  else if (kind === "sqlite") await copySqliteSchema(url.slice("sqlite:".length));
  else await execute(url, await serverSchema(kind ?? ""));
  return url;
}

export type ServerKind = "mariadb" | "mysql";
export type DatabaseKind = "sqlite" | ServerKind;

const serverUrls = { mariadb: process.env.TEST_MARIADB_URL, mysql: process.env.TEST_MYSQL_URL };

/** The available database servers. `npm test` starts them and sets TEST_MARIADB_URL and TEST_MYSQL_URL. */
export const serverKinds: ServerKind[] = (["mariadb", "mysql"] as const).filter((kind) => serverUrls[kind]);

/** The databases for tests of the schema and of queries: `for (const kind of allDatabaseKinds) test(…)`. */
export const allDatabaseKinds: DatabaseKind[] = ["sqlite", ...serverKinds];

/** The databases for most tests: SQLite and the first available server. At full scale, every kind. */
export const databaseKinds: DatabaseKind[] = isFull ? allDatabaseKinds : allDatabaseKinds.slice(0, 2);

/** The databases for tests of locks and transactions: SQLite and `serverKind`. At full scale, every kind. */
export const lockingKinds: DatabaseKind[] = isFull
  ? allDatabaseKinds
  : [...new Set(["sqlite" as const, ...allDatabaseKinds.slice(-1)])];

/** MySQL, as in production, or MariaDB if MySQL is missing. */
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

/** Runs the statements on a MySQL or MariaDB server. */
export async function execute(uri: string, statements: string): Promise<void> {
  if (statements === "") return;
  const { createConnection } = await import("mysql2/promise");
  // The default of 10 s is too short on a busy machine.
  const connection = await createConnection({ uri, multipleStatements: true, connectTimeout: hangMs });
  try {
    await connection.query(statements);
  } finally {
    await connection.end();
  }
}
