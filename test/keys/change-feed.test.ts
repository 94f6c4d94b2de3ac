import test from "ava";
import type { Database } from "../../db/database.ts";
import { ChangeFeed } from "../../gateway/keys/change-feed.ts";
import { createLog } from "../../gateway/log.ts";
import { systemRuntime } from "../../gateway/runtime.ts";
import { eventually } from "../helpers/eventually.ts";
import { openTestDatabase } from "../helpers/open-test-database.ts";
import { lockingKinds } from "../helpers/test-database.ts";

type Teardown = { teardown(step: () => unknown): void };

/**
 * Opens a feed and records its notifications. By default, the feed polls hourly, so that only the test triggers
 * polls.
 */
async function createFeed(t: Teardown, database: Database, pollIntervalMs = 3_600_000) {
  const told: string[] = [];
  const log: string[] = [];
  const clock = { now: Date.now() };
  const listener = { failNext: false };
  const runtime = {
    ...systemRuntime(createLog("debug", { write: (line) => log.push(line) })),
    now: () => clock.now,
    monotonicNow: () => clock.now,
  };
  const feed = new ChangeFeed({ database, runtime, pollIntervalMs });
  await feed.start({
    async changed(kind, entityId) {
      if (listener.failNext) {
        listener.failNext = false;
        throw new Error("the listener failed");
      }
      told.push(`${kind} ${entityId}`);
    },
    async everythingChanged() {
      told.push("everything");
    },
  });
  t.teardown(() => feed.close());
  return { feed, told, log, clock, listener };
}

function append(database: Database, ...ids: string[]): Promise<void> {
  return database.write(async ({ changes }) => {
    for (const id of ids) await changes.append("api_key", id, new Date());
  });
}

for (const kind of lockingKinds) {
  test(`${kind}: every change since the start is delivered once, in order`, async (t) => {
    const database = await openTestDatabase(t, kind);
    await append(database, "key_before");
    const { feed, told } = await createFeed(t, database);

    await append(database, "key_1", "key_2");
    await Promise.all([feed.poll(), feed.poll(), feed.poll()]);
    await append(database, "key_1");
    await feed.poll();

    t.deepEqual(told, ["api_key key_1", "api_key key_2", "api_key key_1"]);
  });

  test(`${kind}: more changes than one read returns are all delivered`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const { feed, told } = await createFeed(t, database);
    const ids = Array.from({ length: 600 }, (_, index) => `key_${index}`);
    await append(database, ...ids);
    await feed.poll();
    t.deepEqual(
      told,
      ids.map((id) => `api_key ${id}`),
    );
  });

  for (const left of [0, 1]) {
    test(`${kind}: after a gap of changes with ${left} left, everything is reloaded`, async (t) => {
      const database = await openTestDatabase(t, kind);
      const { feed, told } = await createFeed(t, database);
      const anHourAgo = new Date(Date.now() - 3_600_000);
      await database.write(({ changes }) => changes.append("api_key", "key_1", anHourAgo));
      if (left > 0) await append(database, "key_2");
      await database.write(({ changes }) => changes.deleteBefore(new Date(Date.now() - 60_000)));

      await feed.poll();
      t.deepEqual(told, ["everything"]);

      await append(database, "key_3");
      await feed.poll();
      t.deepEqual(told, ["everything", "api_key key_3"]);
    });
  }

  test(`${kind}: changes older than an hour are deleted`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const { feed, clock } = await createFeed(t, database);
    const count = async () => (await database.read(({ changes }) => changes.after(0, 100))).length;
    await append(database, "key_1");

    clock.now += 59 * 60_000;
    await feed.poll();
    t.is(await count(), 1);

    clock.now += 11 * 60_000;
    await feed.poll();
    t.is(await count(), 0);
  });

  test(`${kind}: a change whose handler failed is delivered again`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const { feed, told, listener } = await createFeed(t, database);
    await append(database, "key_1", "key_2");
    listener.failNext = true;

    await t.throwsAsync(feed.poll(), { message: "the listener failed" });
    t.deepEqual(told, []);
    await feed.poll();

    t.deepEqual(told, ["api_key key_1", "api_key key_2"]);
  });

  test(`${kind}: changes made elsewhere arrive without a poll`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const { told } = await createFeed(t, database, 5);
    await append(database, "key_1");
    await eventually(() => told.length > 0);
    t.deepEqual(told, ["api_key key_1"]);
  });
}

test("an unavailable database is logged once, and no change is lost", async (t) => {
  const database = await openTestDatabase(t, "sqlite");
  let isAway = false;
  let asked = 0;
  const unreliable = {
    read: (...parameters: Parameters<Database["read"]>) => {
      asked++;
      return isAway ? Promise.reject(new Error("no database")) : database.read(...parameters);
    },
    write: database.write.bind(database),
  } as unknown as Database;
  const { told, log, feed } = await createFeed(t, unreliable, 2);

  isAway = true;
  await append(database, "key_1");
  const before = asked;
  await eventually(() => asked > before + 5);
  t.deepEqual(told, []);
  t.is(log.filter((line) => line.includes("cannot read changes")).length, 1);

  isAway = false;
  await eventually(() => told.length > 0);
  t.deepEqual(told, ["api_key key_1"]);

  isAway = true;
  const edited = await feed.edit("api_key", async () => ["key_2", "edited"]);
  t.is(edited, "edited", "whoever made a change is not told of a failure after it");
  isAway = false;
});
