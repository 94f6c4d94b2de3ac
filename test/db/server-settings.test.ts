import test from "ava";
import { Database } from "../../db/database.ts";
import { openDatabaseAt, usageRow, userRow } from "../helpers/open-test-database.ts";
import { ownServers, startOwnServer } from "../helpers/own-server.ts";
import { queryDatabase } from "../helpers/query-database.ts";
import { skipUnless } from "../helpers/skip-unless.ts";

const limits = { connectionsMax: 2, connectTimeoutMs: 5_000, operationTimeoutMs: 20_000 };

skipUnless(ownServers, "a database server");
for (const own of ownServers) {
  const collation = own.kind === "mysql" ? "utf8mb4_0900_ai_ci" : "utf8mb4_unicode_ci";

  test(`${own.kind}: a host's collation, time zone and SQL mode change no value`, async (t) => {
    const server = await startOwnServer(t, own, [
      `--collation-server=${collation}`,
      "--default-time-zone=-03:30",
      "--sql-mode=TRADITIONAL,ONLY_FULL_GROUP_BY",
    ]);
    await queryDatabase(server.url, "CREATE DATABASE gateway");
    const url = `${server.url}/gateway`;
    const database = await openDatabaseAt(t, url, limits);
    const createdAt = new Date("2026-03-29T01:30:00.123Z");
    await database.write(async ({ users, usageRecords }) => {
      // The server's default collation treats these email addresses as equal.
      await users.insert(userRow("usr_a", { email: "é@example.com", createdAt }));
      await users.insert(userRow("usr_A", { email: "e@example.com", createdAt }));
      await usageRecords.insertAll([usageRow("req_1", { model: "demo/É", createdAt })]);
    });

    const { user, records } = await database.read(async ({ users, usageRecords }) => ({
      user: await users.findByEmail("e@example.com"),
      records: await usageRecords.listByKey("key_1", 10),
    }));
    t.is(user?.id, "usr_A");
    t.deepEqual(user?.createdAt, createdAt);
    t.deepEqual(
      records.map(({ model, createdAt: at }) => [model, at]),
      [["demo/É", createdAt]],
    );
    const [text] = await queryDatabase(url, "SELECT CAST(created_at AS CHAR) AS at FROM usage_records");
    t.is(text?.["at"], "2026-03-29 01:30:00.123", "in UTC");
    const second = await Database.open(url, limits);
    t.teardown(() => second.close());
    t.deepEqual(await second.pendingMigrations(), []);
  });
}
