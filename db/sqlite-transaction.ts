import type Sqlite from "better-sqlite3";
import type { DataSource, EntityManager, QueryRunner } from "typeorm";
import { DatabaseUnavailableError } from "./database-errors.ts";
import { compile, sqliteOf } from "./repositories/raw-sql.ts";

/**
 * Runs `work` in a transaction of SQLite's only connection. Afterwards no transaction is open, whatever failed.
 *
 * TypeORM's own transactions do not guarantee that: after a failed COMMIT, its ROLLBACK fails too, because SQLite has
 * already rolled back. TypeORM then nests later transactions in one that never commits.
 */
export async function inTransaction<Result>(
  dataSource: DataSource,
  work: (manager: EntityManager) => Promise<Result>,
): Promise<Result> {
  const sqlite = sqliteOf(dataSource.manager);
  if (!sqlite) throw new Error("The database is not SQLite.");
  const runner: Runner = dataSource.createQueryRunner();
  try {
    // IMMEDIATE takes the write lock. Otherwise a write after a read fails if another process wrote in between.
    compile(sqlite, "BEGIN IMMEDIATE").run();
    // TypeORM then starts no transactions of its own.
    runner.isTransactionActive = true;
    const result = await work(runner.manager);
    commit(sqlite);
    return result;
  } finally {
    runner.isTransactionActive = false;
    // Closing the connection discards its transaction. The next operation opens another one.
    if (!rollBack(sqlite)) await dataSource.destroy();
  }
}

type Runner = Omit<QueryRunner, "isTransactionActive"> & { isTransactionActive: boolean };

function commit(sqlite: Sqlite.Database): void {
  // After some errors, as of a full disk, SQLite has already rolled back.
  if (!sqlite.inTransaction) throw new DatabaseUnavailableError("SQLite rolled the transaction back.");
  compile(sqlite, "COMMIT").run();
  if (sqlite.inTransaction) throw new DatabaseUnavailableError("SQLite did not commit the transaction.");
}

/** Returns false if the transaction is still open. */
function rollBack(sqlite: Sqlite.Database): boolean {
  try {
    if (sqlite.inTransaction) sqlite.exec("ROLLBACK");
  } catch {
    // The caller learns from the result whether a transaction is open.
  }
  return !sqlite.inTransaction;
}
