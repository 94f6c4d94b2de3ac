import Sqlite from "better-sqlite3";
import { type DataSource, MigrationExecutor, type QueryRunner } from "typeorm";

/**
 * Brings the schema up to date; of several processes that start together one migrates and the others wait for it.
 * Returns the names of the migrations that ran.
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

/** The names of the migrations that have not run, in their order. */
export async function pendingMigrations(dataSource: DataSource): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    // Not `showMigrations`, which would make the table: who looks may not be allowed to change anything.
    const ran = (await runner.hasTable("migrations"))
      ? await runner.query("SELECT name FROM migrations")
      : [];
    const names = new Set((ran as { name: string }[]).map(({ name }) => name));
    return dataSource.migrations.flatMap(({ name }) => (name === undefined || names.has(name) ? [] : [name]));
  } finally {
    await runner.release();
  }
}

async function lock(runner: QueryRunner): Promise<() => Promise<void>> {
  const { options } = runner.connection;
  return options.type === "better-sqlite3" ? lockFile(`${options.database}.migrating`) : lockServer(runner);
}

/**
 * SQLite's own file lock on a file beside the database: unlike a lock file of ours it vanishes with a killed process,
 * and unlike a transaction it does not get in the way of the migrations' own.
 */
async function lockFile(path: string): Promise<() => Promise<void>> {
  const holder = new Sqlite(path, { timeout: lockTimeoutMs });
  holder.exec("BEGIN EXCLUSIVE");
  return async () => {
    holder.exec("ROLLBACK");
    holder.close();
  };
}

/**
 * MySQL's advisory lock belongs to a connection. It is the one that migrates: when its process is killed, the server goes on
 * with the statement it is at, and nobody may begin before that has ended.
 */
async function lockServer(runner: QueryRunner): Promise<() => Promise<void>> {
  // Such locks are the server's, not the database's: the name says which.
  const name = "CONCAT('gateway_migrate_', LEFT(DATABASE(), 40))";
  const [row] = await runner.query(`SELECT GET_LOCK(${name}, ${lockTimeoutMs / 1000}) AS locked`);
  if (Number(row?.locked) !== 1) {
    throw new Error(
      `Another process has been migrating the database for ${lockTimeoutMs / 1000} s. Try again later.`,
    );
  }
  return async () => {
    // A connection that broke has let go of it, and why it broke is already on its way to whoever asked.
    await runner.query(`SELECT RELEASE_LOCK(${name})`).catch(() => {});
  };
}

const lockTimeoutMs = 60_000;
