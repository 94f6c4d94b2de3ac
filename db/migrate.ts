import { setTimeout as pause } from "node:timers/promises";
import { type DataSource, MigrationExecutor, type QueryRunner } from "typeorm";
import { OldSchemaError } from "./database-errors.ts";
import { lockFile } from "./file-lock.ts";

/**
 * Applies the pending migrations and returns their names. Throws if another process is still migrating after
 * `lockTimeoutMs`.
 */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    const unlock = await lock(runner);
    try {
      const executor = new MigrationExecutor(dataSource, runner);
      executor.transaction = "each";
      const ran = await executor.executePendingMigrations();
      return ran.map((migration) => migration.name);
    } finally {
      await unlock();
    }
  } finally {
    await runner.release();
  }
}

/** Throws an `OldSchemaError` for a database from before the first release. */
export async function pendingMigrations(dataSource: DataSource): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    // TypeORM's `showMigrations` would create the table, but a read-only user lacks the permission.
    const ran = (await runner.hasTable("migrations"))
      ? await runner.query("SELECT name FROM migrations")
      : [];
    const names = new Set((ran as { name: string }[]).map(({ name }) => name));
    const pending = dataSource.migrations.flatMap(({ name = "" }) => (names.has(name) ? [] : [name]));
    if (names.size > 0 && pending[0] === dataSource.migrations[0]?.name) throw new OldSchemaError();
    return pending;
  } finally {
    await runner.release();
  }
}

async function lock(runner: QueryRunner): Promise<() => Promise<void>> {
  const { options } = runner.connection;
  return options.type === "better-sqlite3" ? holdFile(`${options.database}.migrating`) : lockServer(runner);
}

/**
 * Locks a file beside the database, because a lock on the database would block the migration's own
 * transactions. The system releases the lock when the process dies.
 */
async function holdFile(path: string): Promise<() => Promise<void>> {
  for (const deadline = performance.now() + lockTimeoutMs; performance.now() < deadline;) {
    const held = lockFile(path);
    if (held) return async () => held.release();
    await pause(lockPauseMs);
  }
  throw stillMigrating();
}

/**
 * The advisory lock belongs to the migrating connection. If the process is killed, the server keeps the lock
 * until the current statement ends.
 */
async function lockServer(runner: QueryRunner): Promise<() => Promise<void>> {
  // Lock names are global on a server, so the name contains the database.
  const name = "CONCAT('gateway_migrate_', LEFT(DATABASE(), 40))";
  const [row] = await runner.query(`SELECT GET_LOCK(${name}, ${lockTimeoutMs / 1000}) AS locked`);
  if (Number(row?.locked) !== 1) {
    throw stillMigrating();
  }
  return async () => {
    // A broken connection has already released the lock.
    await runner.query(`SELECT RELEASE_LOCK(${name})`).catch(() => {});
  };
}

function stillMigrating(): Error {
  return new Error(
    `Another process is still migrating the database after ${lockTimeoutMs / 1000} s. Retry later.`,
  );
}

const lockTimeoutMs = 60_000;
const lockPauseMs = 20;
