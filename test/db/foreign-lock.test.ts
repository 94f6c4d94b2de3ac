import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import test, { type ExecutionContext } from "ava";
import Sqlite from "better-sqlite3";
import { Database } from "../../db/database.ts";
import { eventually } from "../helpers/eventually.ts";
import { openDatabaseAt, userRow } from "../helpers/open-test-database.ts";
import { createMigratedDatabase, createTestDatabase } from "../helpers/test-database.ts";

/** Locks the database as a forgotten `sqlite3` shell does. */
function lock(t: ExecutionContext, url: string): Sqlite.Database {
  const other = new Sqlite(url.slice("sqlite:".length));
  t.teardown(() => other.close());
  other.exec("BEGIN EXCLUSIVE");
  return other;
}

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
  const other = lock(t, url);
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

test.serial("sqlite: a write that times out at a foreign lock never happens later", async (t) => {
  const url = await createMigratedDatabase(t, "sqlite");
  const database = await openDatabaseAt(t, url, { operationTimeoutMs: 300 });
  const other = lock(t, url);
  const insert = (id: string) => database.write(({ users }) => users.insert(userRow(id)));
  const results = await Promise.allSettled([insert("usr_1"), insert("usr_2")]);
  t.deepEqual(
    results.map((result) => result.status === "rejected" && (result.reason as Error).name),
    ["DatabaseUnavailableError", "DatabaseUnavailableError"],
  );
  t.not(database.writeHealth.trouble, null);
  other.exec("ROLLBACK");
  await insert("usr_3");
  t.is(database.writeHealth.trouble, null);
  t.is(await database.read(({ users }) => users.count()), 1);
});

test.serial("sqlite: a small write clears the failure without other writes", async (t) => {
  const url = await createMigratedDatabase(t, "sqlite");
  const database = await openDatabaseAt(t, url, { operationTimeoutMs: 300 });
  const changes: (string | null)[] = [];
  database.writeHealth.onChange = (error) => void changes.push(error && error.message);
  const other = lock(t, url);
  for (let time = 0; time < 3; time++) {
    await t.throwsAsync(database.write(({ users }) => users.insert(userRow("usr_1"))));
  }
  other.exec("ROLLBACK");
  await eventually(() => database.writeHealth.trouble === null, 20_000);
  t.is(changes.length, 2, "one report each, not one per write");
});

test.serial("sqlite: an opening and migrating process waits for a foreign lock", async (t) => {
  const url = await createTestDatabase(t, "sqlite");
  new Sqlite(url.slice("sqlite:".length)).pragma("journal_mode = WAL");
  const limits = { connectionsMax: 1, connectTimeoutMs: 5_000, operationTimeoutMs: 20_000 };
  const other = lock(t, url);
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
