import test, { type ExecutionContext } from "ava";
import { createConnection } from "mysql2/promise";
import { openDataSource } from "../../db/data-source.ts";
import { migrate } from "../../db/migrate.ts";
import { migrations } from "../../db/migrations/migrations.ts";
import { assertRollUpsMatch } from "../helpers/assert-roll-ups-match.ts";
import { dumpDatabase } from "../helpers/dump-database.ts";
import { eventually } from "../helpers/eventually.ts";
import { startGatewayProcess } from "../helpers/gateway-process.ts";
import { openDatabaseAt, usageRow } from "../helpers/open-test-database.ts";
import { queryDatabase } from "../helpers/query-database.ts";
import {
  allDatabaseKinds,
  createServerDatabase,
  createTestDatabase,
  type DatabaseKind,
  serverKinds,
} from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { undoMigrations } from "../helpers/undo-migrations.ts";

type DataSource = Awaited<ReturnType<typeof openDataSource>>;
type QueryRunner = ReturnType<DataSource["createQueryRunner"]>;

const limits = { connectionsMax: 4, connectTimeoutMs: 5_000 };

for (const kind of allDatabaseKinds) {
  test(`${kind}: a first start killed after any statement is finished by the next`, async (t) => {
    const unbroken = await createTestDatabase(t, kind);
    await migrateAt(unbroken);
    const broken = await createTestDatabase(t, kind);

    const deaths = await breakOffEverywhere(broken);
    t.true(deaths > 40);

    t.deepEqual(await schema(broken), await schema(unbroken));
    t.is(await rowsOf(broken), await rowsOf(unbroken));
  });

  test(`${kind}: an upgrade killed after any statement counts no record twice`, async (t) => {
    const unbroken = await createOldDatabase(t, kind);
    await migrateAt(unbroken);
    const broken = await createOldDatabase(t, kind);

    const deaths = await breakOffEverywhere(broken);
    t.true(deaths > 30);

    t.is(await assertRollUpsMatch(broken, { areOld: true }), 3);
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

/** This migration changes existing records and builds the roll-ups. */
const upgrade = "UsageHistory1763942400000";

/** Returns the URL of a database with three records and the schema before `upgrade`. */
async function createOldDatabase(t: ExecutionContext, kind: DatabaseKind): Promise<string> {
  const url = await createTestDatabase(t, kind);
  const database = await openDatabaseAt(t, url);
  const createdAt = new Date("2026-11-21T10:00:00Z");
  const records = ["req_1", "req_2", "req_3"].map((id) => usageRow(id, { createdAt }));
  await database.write(({ usageRecords }) => usageRecords.insertAll(records));
  await withDataSource(url, (dataSource) => undoMigrations(dataSource, upgrade));
  return url;
}

/** Repeats the migration, each time killing it one statement later. Returns the number of kills. */
async function breakOffEverywhere(url: string): Promise<number> {
  const seen = new Set<string>();
  for (let seenBefore = -1; seen.size > seenBefore;) {
    seenBefore = seen.size;
    await migrateAt(url, killedAfterNew(seen)).catch((error: unknown) => {
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

async function migrateAt(url: string, wrap = (runner: QueryRunner) => runner): Promise<void> {
  await withDataSource(url, (dataSource) => {
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
    const database = await openDatabaseAt(t, url);
    await database.write(({ usageRecords }) => usageRecords.insertAll([usageRow("req_1")]));
    const dataSource = await openDataSource(url, { connectionsMax: 4, connectTimeoutMs: 5_000 });
    t.teardown(() => dataSource.destroy());
    await dataSource.query(
      "INSERT INTO api_keys (id, name, status, created_at) VALUES ('key_1', 'A key', 'active', NOW(3))",
    );
    await undoMigrations(dataSource, upgrade);
    // The row lock delays the migration's UPDATE, as a large table would.
    const holder = await createConnection(url);
    t.teardown(() => holder.end());
    await holder.query("BEGIN");
    await holder.query("SELECT id FROM api_keys WHERE id = 'key_1' FOR UPDATE");
    const environment = { DATA_DIR: await createTestFolder(t), DATABASE_URL: url };
    const killed = startGatewayProcess(t, environment, "migrate");
    await eventually(async () => (await running(url)).some((sql) => sql.startsWith("UPDATE usage_records")));
    killed.child.kill("SIGKILL");
    await killed.exited;

    const migrated = migrate(dataSource);

    const both = await eventually(async () => {
      const statements = await running(url);
      return statements.length === 2 && statements;
    });
    t.regex(both[0] ?? "", /^SELECT GET_LOCK/);
    t.regex(both[1] ?? "", /^UPDATE usage_records/);
    await holder.query("COMMIT");
    t.is((await migrated)[0], upgrade);
    t.is(await assertRollUpsMatch(url, { areOld: true }), 1);
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
      DATA_DIR: await createTestFolder(t),
      DATABASE_URL: await createTestDatabase(t, kind),
    };
    const processes = Array.from({ length: 3 }, () => startGatewayProcess(t, environment, "migrate"));

    for (const each of processes) t.is(await each.exited, 0, each.stderr());

    const said = processes.map((each) => each.stdout());
    const ran = `Ran ${migrations.map((Migration) => new Migration().name).join(", ")}.\n`;
    t.is(said.filter((text) => text === ran).length, 1, said.join(""));
    t.is(said.filter((text) => text === "The database schema is up to date.\n").length, 2, said.join(""));
  });
}
