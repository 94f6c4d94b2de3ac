import test from "ava";
import { createConnection } from "mysql2/promise";
import { openDataSource } from "../../db/data-source.ts";
import { migrate } from "../../db/migrate.ts";
import { assertRollUpsMatch } from "../helpers/assert-roll-ups-match.ts";
import { eventually } from "../helpers/eventually.ts";
import { startGatewayProcess } from "../helpers/gateway-process.ts";
import { openDatabaseAt, usageRow } from "../helpers/open-test-database.ts";
import { queryDatabase } from "../helpers/query-database.ts";
import { createServerDatabase, serverKinds } from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { undoMigrations } from "../helpers/undo-migrations.ts";

const upgrade = "UsageHistory1763942400000";

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
    // The statement waits for the lock, as a large table would delay it.
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

/** Returns the server's running statements on this database except this one. */
async function running(url: string): Promise<string[]> {
  const rows = await queryDatabase(
    url,
    `SELECT info FROM information_schema.processlist
      WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command = 'Query' ORDER BY info`,
  );
  return rows.map(({ info }) => String(info));
}
