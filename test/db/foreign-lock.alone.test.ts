import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import test from "ava";
import Sqlite from "better-sqlite3";
import { Database } from "../../db/database.ts";
import { hangMs } from "../helpers/eventually.ts";
import { openDatabaseAt, userRow } from "../helpers/open-test-database.ts";
import { createMigratedDatabase, createTestDatabase } from "../helpers/test-database.ts";
import { lockSqlite } from "./lock-sqlite.ts";

async function longestBlockMs(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await work();
  delay.disable();
  return delay.max / 1e6;
}

test.serial("sqlite: a foreign lock delays writes, but neither reads nor the event loop", async (t) => {
  const url = await createMigratedDatabase(t, "sqlite");
  const database = await openDatabaseAt(t, url);
  const other = lockSqlite(t, url);
  const ids = ["usr_1", "usr_2", "usr_3"];
  const writing = ids.map((id) => database.write(({ users }) => users.insert(userRow(id))));
  const blockedMs = await longestBlockMs(async () => {
    for (let reads = 0; reads < 40; reads++) {
      t.is(await database.read(({ users }) => users.count()), 0);
      await wait(25);
    }
  });
  // Without asynchronous waits, the driver blocks for its whole busy timeout of seconds.
  t.true(blockedMs < 500, `${blockedMs} ms`);
  other.exec("ROLLBACK");
  await Promise.all(writing);
  t.is(await database.read(({ users }) => users.count()), ids.length);
});

test.serial("sqlite: an opening and migrating process waits for a foreign lock", async (t) => {
  const url = await createTestDatabase(t, "sqlite");
  new Sqlite(url.slice("sqlite:".length)).pragma("journal_mode = WAL");
  const limits = { connectionsMax: 1, connectTimeoutMs: hangMs, operationTimeoutMs: hangMs };
  const other = lockSqlite(t, url);
  const blockedMs = await longestBlockMs(async () => {
    const opening = Database.open(url, limits).then(async (database) => {
      t.teardown(() => database.close());
      return database.migrate();
    });
    await wait(500);
    other.exec("ROLLBACK");
    t.true((await opening).length > 0);
  });
  t.true(blockedMs < 1_000, `${blockedMs} ms`);
});
