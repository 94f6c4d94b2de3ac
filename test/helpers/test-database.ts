import { randomBytes } from "node:crypto";
import path from "node:path";
import type { ExecutionContext } from "ava";
import { createTestFolder } from "./test-folder.ts";

/**
 * Returns the DATABASE_URL of a new, empty database that is deleted with the test. Close your connections in your own
 * `t.teardown`: ava runs the latest first.
 */
export async function createTestDatabase(t: Teardown, kind: DatabaseKind): Promise<string> {
  return kind === "sqlite" ? createSqliteDatabase(t) : createMysqlDatabase(t);
}

export type DatabaseKind = "sqlite" | "mysql";

/**
 * Databases for all tests: `for (const kind of databaseKinds) test(…)`. `npm test` sets TEST_MYSQL_URL, or leaves it
 * empty where no MySQL is available, and reports that.
 */
export const databaseKinds: DatabaseKind[] = process.env.TEST_MYSQL_URL ? ["sqlite", "mysql"] : ["sqlite"];

if (process.env.TEST_MYSQL_URL === undefined) console.error("MySQL skipped: only `npm test` provides one.");

/** The `t` of any test, whatever its context. */
type Teardown = Pick<ExecutionContext, "teardown">;

async function createSqliteDatabase(t: Teardown): Promise<string> {
  return `sqlite:${path.join(await createTestFolder(t), "gateway.db")}`;
}

async function createMysqlDatabase(t: Teardown): Promise<string> {
  const server = process.env.TEST_MYSQL_URL;
  if (!server) throw new Error("There is no MySQL server: take the kinds from databaseKinds");
  const name = `test_${randomBytes(8).toString("hex")}`;
  await execute(server, `CREATE DATABASE ${name}`);
  t.teardown(() => execute(server, `DROP DATABASE ${name}`));
  return Object.assign(new URL(server), { pathname: name }).href;
}

async function execute(server: string, statement: string): Promise<void> {
  const { createConnection } = await import("mysql2/promise");
  const connection = await createConnection(server);
  try {
    await connection.query(statement);
  } finally {
    await connection.end();
  }
}
