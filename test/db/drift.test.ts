import test, { type ExecutionContext } from "ava";
import { openDataSource } from "../../db/data-source.ts";
import { migrate } from "../../db/migrate.ts";
import {
  allDatabaseKinds,
  createMigratedDatabase,
  createTestDatabase,
  type DatabaseKind,
} from "../helpers/test-database.ts";

async function openEmptyDataSource(t: ExecutionContext, kind: DatabaseKind) {
  return openDataSourceAt(t, await createTestDatabase(t, kind));
}

async function openDataSourceAt(t: ExecutionContext, url: string) {
  const dataSource = await openDataSource(url, { connectionsMax: 4, connectTimeoutMs: 5_000 });
  t.teardown(() => dataSource.destroy());
  return dataSource;
}

type OpenDataSource = Awaited<ReturnType<typeof openEmptyDataSource>>;

/** Returns the SQL that TypeORM would run to adapt the schema to the entities. */
async function drift(dataSource: OpenDataSource): Promise<string[]> {
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  return upQueries.map(({ query }) => query);
}

/** Omits the `migrations` table and SQLite's internal tables. */
async function tableNames(dataSource: OpenDataSource): Promise<string[]> {
  const isSqlite = dataSource.options.type === "better-sqlite3";
  const rows: { name: string }[] = await dataSource.query(
    isSqlite
      ? "SELECT name FROM sqlite_master WHERE type = 'table'"
      : "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()",
  );
  return rows.map(({ name }) => name).filter((name) => name !== "migrations" && !name.startsWith("sqlite_"));
}

for (const kind of allDatabaseKinds) {
  test(`${kind}: the migrations create the schema of the entities`, async (t) => {
    const dataSource = await openEmptyDataSource(t, kind);
    await migrate(dataSource);

    t.deepEqual(await drift(dataSource), []);
    t.deepEqual(
      (await tableNames(dataSource)).toSorted(),
      dataSource.entityMetadatas.map(({ tableName }) => tableName).toSorted(),
    );
  });

  test(`${kind}: the schema that other tests copy is the schema of the entities`, async (t) => {
    const dataSource = await openDataSourceAt(t, await createMigratedDatabase(t, kind));

    t.deepEqual(await drift(dataSource), []);
    t.is((await tableNames(dataSource)).length, dataSource.entityMetadatas.length);
    t.deepEqual(await migrate(dataSource), [], "no migration is pending");
  });

  test(`${kind}: a drifted schema is detected`, async (t) => {
    const dataSource = await openEmptyDataSource(t, kind);
    await migrate(dataSource);
    await dataSource.query(`DROP INDEX changes_time${kind === "sqlite" ? "" : " ON changes"}`);

    t.is((await drift(dataSource)).length, 1);
  });

  test(`${kind}: every migration can be reverted and run again`, async (t) => {
    const dataSource = await openEmptyDataSource(t, kind);
    const ran = await migrate(dataSource);
    t.deepEqual(
      ran,
      dataSource.migrations.map(({ name }) => name),
    );

    for (const _ of ran) await dataSource.undoLastMigration({ transaction: "each" });
    t.deepEqual(await tableNames(dataSource), []);

    t.deepEqual(await migrate(dataSource), ran);
    t.deepEqual(await drift(dataSource), []);
    t.deepEqual(await migrate(dataSource), [], "a second time there is nothing to do");
  });
}
