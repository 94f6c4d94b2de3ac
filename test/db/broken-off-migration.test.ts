import test, { type ExecutionContext } from "ava";
import { createConnection } from "mysql2/promise";
import { openDataSource } from "../../db/data-source.ts";
import { migrate } from "../../db/migrate.ts";
import { migrations } from "../../db/migrations/migrations.ts";
import { stepKit } from "../../db/migrations/steps.ts";
import { dumpDatabase } from "../helpers/dump-database.ts";
import { eventually, hangMs } from "../helpers/eventually.ts";
import { startGatewayProcess } from "../helpers/gateway-process.ts";
import { openDatabaseAt, usageRow } from "../helpers/open-test-database.ts";
import { queryDatabase } from "../helpers/query-database.ts";
import { runInProcess } from "../helpers/run-in-process.ts";
import {
  allDatabaseKinds,
  createServerDatabase,
  createTestDatabase,
  type DatabaseKind,
  serverKinds,
} from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { patience } from "../helpers/test-gateway.ts";

type DataSource = Awaited<ReturnType<typeof openDataSource>>;
type QueryRunner = ReturnType<DataSource["createQueryRunner"]>;

const limits = { connectionsMax: 4, connectTimeoutMs: hangMs };

for (const kind of allDatabaseKinds) {
  test(`${kind}: a first start killed after any statement is finished by the next`, async (t) => {
    const unbroken = await createTestDatabase(t, kind);
    await migrateAt(unbroken);
    const broken = await createTestDatabase(t, kind);

    const deaths = await breakOffEverywhere(broken);
    t.true(deaths > 20);

    t.deepEqual(await schema(broken), await schema(unbroken));
    t.is(await rowsOf(broken), await rowsOf(unbroken));
  });

  test(`${kind}: an upgrade killed after any statement is finished by the next start`, async (t) => {
    const unbroken = await createDatabaseWithRecords(t, kind);
    await migrateAt(unbroken, { upgrades: [Upgrade] });
    const broken = await createDatabaseWithRecords(t, kind);

    t.is(await breakOffEverywhere(broken, [Upgrade]), 5);

    const [sum] = await queryDatabase(broken, "SELECT SUM(latency_seconds) AS sum FROM usage_records");
    t.is(Number(sum?.["sum"]), 6);
    t.deepEqual(await schema(broken), await schema(unbroken));
    t.is(await rowsOf(broken), await rowsOf(unbroken));
  });

  test(`${kind}: a foreign table is not mistaken for a leftover of a killed start`, async (t) => {
    const url = await createTestDatabase(t, kind);
    const create = "CREATE TABLE users (id varchar(40) PRIMARY KEY, nickname varchar(40))";
    await withDataSource(url, (dataSource) => dataSource.query(create));
    const before = await schema(url);

    await t.throwsAsync(migrateAt(url), { message: /users.* already exists/ });

    t.true((await schema(url)).includes(before[0] ?? ""));
  });
}

/** An example of a later migration: a table, a column with values of other columns, and an index. */
class Upgrade {
  readonly name = "Upgrade4102444800000";

  async up(runner: QueryRunner): Promise<void> {
    const { createTable, addColumn, createIndex } = await stepKit(runner);
    await createTable({
      name: "examples",
      columns: [{ name: "id", type: "varchar", length: "40", isPrimary: true }],
    });
    await addColumn("usage_records", "latency_seconds", "bigint NULL");
    await runner.query("UPDATE usage_records SET latency_seconds = latency_ms / 1000");
    await createIndex("usage_records_seconds", "usage_records", "latency_seconds, id");
  }

  async down(): Promise<void> {}
}

async function createDatabaseWithRecords(t: ExecutionContext, kind: DatabaseKind): Promise<string> {
  const url = await createTestDatabase(t, kind);
  const database = await openDatabaseAt(t, url);
  const createdAt = new Date("2026-11-21T10:00:00Z");
  const records = ["req_1", "req_2", "req_3"].map((id) => usageRow(id, { createdAt, latencyMs: 2_000 }));
  await database.write(({ usageRecords }) => usageRecords.insertAll(records));
  return url;
}

/** Repeats the migration, each time killing it one statement later. Returns the number of kills. */
async function breakOffEverywhere(url: string, upgrades?: Upgrades): Promise<number> {
  const seen = new Set<string>();
  for (let seenBefore = -1; seen.size > seenBefore;) {
    seenBefore = seen.size;
    await migrateAt(url, { upgrades, wrap: killedAfterNew(seen) }).catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error;
    });
  }
  return seen.size;
}

class Killed extends Error {}

/** Wraps a runner so that it throws after the first write statement that is not in `seen`, and adds it to `seen`. */
function killedAfterNew(seen: Set<string>): (runner: QueryRunner) => QueryRunner {
  let isDead = false;
  return (runner) => {
    const query = runner.query.bind(runner);
    runner.query = async (sql: string, ...more: [parameters?: unknown[]]) => {
      if (isDead) throw new Killed();
      const result = await query(sql, ...more);
      const statement = `${sql} ${JSON.stringify(more)}`;
      isDead = /^\s*(ALTER|CREATE|DELETE|DROP|INSERT|REPLACE|UPDATE)\b/i.test(sql) && !seen.has(statement);
      if (!isDead) return result;
      seen.add(statement);
      throw new Killed();
    };
    return runner;
  };
}

type Upgrades = (typeof Upgrade)[] | undefined;
type MigrateOptions = { upgrades?: Upgrades; wrap?: (runner: QueryRunner) => QueryRunner };

async function migrateAt(url: string, { upgrades = [], wrap = (each) => each }: MigrateOptions = {}) {
  await withDataSource(url, (dataSource) => {
    dataSource.migrations.push(...upgrades.map((Each) => new Each()));
    const createQueryRunner = dataSource.createQueryRunner.bind(dataSource);
    dataSource.logger.logMigration = () => {};
    dataSource.createQueryRunner = (mode) => wrap(createQueryRunner(mode));
    return migrate(dataSource);
  });
}

/** Destroying the data source rolls back uncommitted changes, as the database does for a killed process. */
async function withDataSource<Result>(
  url: string,
  work: (dataSource: DataSource) => Promise<Result>,
): Promise<Result> {
  const dataSource = await openDataSource(url, limits);
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/** Returns the statements that create the current tables and indexes. */
async function schema(url: string): Promise<string[]> {
  if (url.startsWith("sqlite:")) {
    const rows = await queryDatabase(url, "SELECT sql FROM sqlite_master ORDER BY name");
    return rows.map(({ sql }) => String(sql));
  }
  const tables = await queryDatabase(url, "SHOW TABLES");
  const statements = tables.map(async (table) => {
    const [row] = await queryDatabase(url, `SHOW CREATE TABLE ${String(Object.values(table)[0])}`);
    return String(row?.["Create Table"]).replace(/ AUTO_INCREMENT=\d+/, "");
  });
  return Promise.all(statements);
}

/** Omits migration IDs, because MySQL never reuses one, even after a rollback. */
async function rowsOf(url: string): Promise<string> {
  return (await dumpDatabase(url)).replaceAll(/"id":\d+,/g, "");
}

for (const kind of serverKinds) {
  test(`${kind}: a start after a killed migration waits for its running statement`, async (t) => {
    const url = await createServerDatabase(t, kind);
    const dataSource = await openDataSource(url, limits);
    t.teardown(() => dataSource.destroy());
    const later = dataSource.migrations.splice(1);
    await migrate(dataSource);
    dataSource.migrations.push(...later);
    await dataSource.query("DELETE FROM migrations");
    // The row lock delays the migration's REPLACE, as a large table would.
    const holder = await createConnection({ uri: url, connectTimeout: hangMs });
    t.teardown(() => holder.end());
    await holder.query("BEGIN");
    await holder.query("SELECT name FROM counters FOR UPDATE");
    const environment = { ...patience, DATA_DIR: await createTestFolder(t), DATABASE_URL: url };
    const killed = startGatewayProcess(t, environment, "migrate");
    await eventually(async () => (await running(url)).some((sql) => sql.startsWith("REPLACE INTO counters")));
    killed.child.kill("SIGKILL");
    await killed.exited;

    const migrated = migrate(dataSource);

    const both = await eventually(async () => {
      const statements = await running(url);
      return statements.length === 2 && statements;
    });
    t.regex(both[1] ?? "", /^SELECT GET_LOCK/);
    t.regex(both[0] ?? "", /^REPLACE INTO counters/);
    await holder.query("COMMIT");
    t.deepEqual(
      await migrated,
      migrations.map((Migration) => new Migration().name),
    );
  });
}

/** Returns the server's running statements on this database, without the function's own query. */
async function running(url: string): Promise<string[]> {
  const rows = await queryDatabase(
    url,
    `SELECT info FROM information_schema.processlist
      WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command = 'Query' ORDER BY info`,
  );
  return rows.map(({ info }) => String(info));
}

for (const kind of allDatabaseKinds) {
  test(`${kind}: of processes that start together one migrates, and all start`, async (t) => {
    const environment = {
      ...patience,
      DATA_DIR: await createTestFolder(t),
      DATABASE_URL: await createTestDatabase(t, kind),
    };
    const migrateOnce = async () => {
      // A server's lock belongs to a connection, and SQLite's to a process.
      if (kind !== "sqlite") return runInProcess(environment, "migrate");
      const { exited, stdout, stderr } = startGatewayProcess(t, environment, "migrate");
      return { exitCode: await exited, stdout: stdout(), stderr: stderr() };
    };
    const outcomes = await Promise.all([migrateOnce(), migrateOnce(), migrateOnce()]);

    for (const { exitCode, stderr } of outcomes) t.is(exitCode, 0, stderr);

    const said = outcomes.map(({ stdout }) => stdout);
    const ran = `Ran ${migrations.map((Migration) => new Migration().name).join(", ")}.\n`;
    t.is(said.filter((text) => text === ran).length, 1, said.join(""));
    t.is(said.filter((text) => text === "The database schema is up to date.\n").length, 2, said.join(""));
  });
}
