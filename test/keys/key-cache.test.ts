import { randomBytes } from "node:crypto";
import test from "ava";
import { authenticateKey } from "../../gateway/keys/authenticate-key.ts";
import { generateKeyValue } from "../../gateway/keys/key-value.ts";
import { createKeyStore, knownKey } from "../helpers/fake-key-store.ts";
import type { Database } from "../../db/database.ts";
import { ChangeFeed } from "../../gateway/keys/change-feed.ts";
import { createLog } from "../../gateway/log.ts";
import { systemRuntime } from "../../gateway/runtime.ts";
import { eventually } from "../helpers/eventually.ts";
import { openTestDatabase } from "../helpers/open-test-database.ts";
import { lockingKinds } from "../helpers/test-database.ts";

test("a hundred requests with an uncached key share one lookup", async (t) => {
  const store = createKeyStore();
  store.keys.set("a", knownKey("key_1"));

  const found = await Promise.all(Array.from({ length: 100 }, () => store.cache.find("a")));

  t.true(found.every((key) => key?.id === "key_1"));
  t.is(store.lookups.length, 1);
  t.is(store.cache.peek("a")?.id, "key_1");
  await store.cache.find("a");
  t.is(store.lookups.length, 1, "a known key is not looked up again");
});

test("an unknown key stays unknown for one second", async (t) => {
  const store = createKeyStore();
  t.is(await store.cache.find("a"), null);
  store.keys.set("a", knownKey("key_1"));

  store.now += 999;
  t.is(await store.cache.find("a"), null);
  t.is(store.lookups.length, 1);

  store.now += 1;
  t.is((await store.cache.find("a"))?.id, "key_1");
  t.is(store.lookups.length, 2);
});

/**
 * Starts a lookup of key_1. The lookup reads its result at once, but returns only after `answer` is called.
 */
function beginLookUp() {
  const store = createKeyStore();
  store.keys.set("a", knownKey("key_1"));
  const held = Promise.withResolvers<void>();
  store.hold = held.promise;
  const finding = store.cache.find("a");
  store.hold = null;
  return { store, finding, answer: held.resolve };
}

// LiteLLM writes outdated keys back to its cache: https://github.com/BerriAI/litellm/issues/25553
test("a lookup that read before a change does not overwrite it", async (t) => {
  const { store, finding, answer } = beginLookUp();
  store.keys.set("a", knownKey("key_1", { isActive: false }));
  await store.cache.refresh("key_1");
  answer();

  t.false((await finding)?.isActive);
  t.false((await store.cache.find("a"))?.isActive);
  t.false(store.cache.peek("a")?.isActive ?? true);
});

test("a lookup that read before a reset does not fill the cache", async (t) => {
  const { store, finding, answer } = beginLookUp();
  store.keys.delete("a");
  store.cache.clear();
  answer();

  t.is(await finding, null);
  t.is(store.cache.peek("a"), undefined);
});

test("under constant changes a request is answered, and the result is not cached", async (t) => {
  const store = createKeyStore();
  store.keys.set("a", knownKey("key_1"));
  const finding = store.cache.find("a");
  let isFound = false;
  void finding.then(() => (isFound = true));
  for (let turn = 0; turn < 100 && !isFound; turn++) {
    await store.cache.refresh("key_2");
  }

  t.is((await finding)?.id, "key_1");
  t.true(store.lookups.length <= 3);
});

test("a changed key is reloaded with all its values before the next request", async (t) => {
  const store = createKeyStore();
  store.keys.set("old", knownKey("key_1")).set("new", knownKey("key_1")).set("other", knownKey("key_2"));
  for (const hash of ["old", "new", "other"]) await store.cache.find(hash);

  store.keys.set("new", knownKey("key_1", { name: "renamed" })).delete("old");
  await store.cache.refresh("key_1");

  t.is(store.cache.peek("old"), undefined);
  t.is(store.cache.peek("new")?.name, "renamed");
  t.deepEqual(store.lookups.slice(3).toSorted(), ["new", "old"], "others are left alone");
});

test("the cache keeps its maximum of keys, including the latest", async (t) => {
  const store = createKeyStore({ entriesMax: 10 });
  for (let index = 0; index < 50; index++) {
    store.keys.set(`hash ${index}`, knownKey(`key_${index}`));
    await store.cache.find(`hash ${index}`);
    await store.cache.find(`unknown ${index}`);
  }
  const kept = [...store.keys.keys()].filter((hash) => store.cache.peek(hash));
  t.deepEqual(
    kept,
    Array.from({ length: 10 }, (_, index) => `hash ${index + 40}`),
  );

  // Entries of unknown keys are evicted, too.
  store.lookups.length = 0;
  for (let index = 0; index < 50; index++) await store.cache.find(`unknown ${index}`);
  t.is(store.lookups.length, 50);
});

test("an evicted key is found again, and its changes arrive", async (t) => {
  const store = createKeyStore({ entriesMax: 1 });
  store.keys.set("a", knownKey("key_1")).set("b", knownKey("key_2"));
  await store.cache.find("a");
  await store.cache.find("b");
  await store.cache.find("a");

  store.keys.set("a", knownKey("key_1", { isActive: false }));
  await store.cache.refresh("key_1");

  t.false(store.cache.peek("a")?.isActive ?? true);
});

test("too many simultaneous lookups are refused as unavailable, not as invalid keys", async (t) => {
  const store = createKeyStore({ lookupsMax: 3 });
  const held = Promise.withResolvers<void>();
  store.hold = held.promise;
  const finding = ["a", "b", "c"].map((hash) => store.cache.find(hash));

  const error = await t.throwsAsync(store.cache.find("d"));
  t.like(error, { code: "service_unavailable", retryAfterSeconds: 1 });
  void store.cache.find("a");
  t.is(store.lookups.length, 3);

  held.resolve();
  await Promise.all(finding);
  store.hold = null;
  t.is(await store.cache.find("d"), null);
});

test("a changed key is looked up again despite many other lookups", async (t) => {
  const store = createKeyStore({ lookupsMax: 1 });
  store.keys.set("mine", knownKey("key_1"));
  await store.cache.find("mine");
  const { promise, resolve } = Promise.withResolvers<void>();
  store.hold = promise;
  const guess = store.cache.find("a guess");
  store.keys.set("mine", knownKey("key_1", { isActive: false }));
  const refreshed = store.cache.refresh("key_1");
  resolve();
  await Promise.all([guess, refreshed]);
  t.is(store.cache.peek("mine")?.isActive, false);
});

test("a failed lookup is not cached", async (t) => {
  const store = createKeyStore();
  store.keys.set("a", knownKey("key_1"));
  store.hold = Promise.reject(new Error("no database"));
  await t.throwsAsync(store.cache.find("a"), { message: "no database" });

  store.hold = null;
  t.is((await store.cache.find("a"))?.id, "key_1");
});

test("two hundred thousand guesses cause no lookup", (t) => {
  const store = createKeyStore();
  const runtime = { now: () => store.now };
  const options = { keyCache: store.cache, lastUsed: { note: t.fail }, runtime } as unknown as Parameters<
    typeof authenticateKey
  >[0];
  const example = generateKeyValue({ randomBytes });
  const random = randomBytes(16_000_000)
    .toString("latin1")
    .replaceAll(/[^0-9A-Za-z]/g, "");
  const refusals = new Map<string, number>();
  for (let guess = 0; guess < 200_000; guess++) {
    // The guesses alternate between text in a key's format, a valid key with another end, and random text.
    const noise = random.slice(guess % 3_000_000, (guess % 3_000_000) + 49);
    const value = [`sk-gateway-${noise}`, example.slice(0, -8) + noise.slice(0, 8), noise][guess % 3] ?? "";
    try {
      authenticateKey(options, value);
      t.fail(`${value} is taken for a key`);
    } catch (error) {
      const { code } = error as { code: string };
      refusals.set(code, (refusals.get(code) ?? 0) + 1);
    }
  }
  t.deepEqual([...refusals], [["invalid_api_key", 200_000]]);
  t.deepEqual(store.lookups, []);
});

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
}

test("more changes than one read returns are all delivered", async (t) => {
  const database = await openTestDatabase(t, "sqlite");
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
  test(`after a gap of changes with ${left} left, everything is reloaded`, async (t) => {
    const database = await openTestDatabase(t, "sqlite");
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

test("changes older than an hour are deleted", async (t) => {
  const database = await openTestDatabase(t, "sqlite");
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

test("a change whose handler failed is delivered again", async (t) => {
  const database = await openTestDatabase(t, "sqlite");
  const { feed, told, listener } = await createFeed(t, database);
  await append(database, "key_1", "key_2");
  listener.failNext = true;

  await t.throwsAsync(feed.poll(), { message: "the listener failed" });
  t.deepEqual(told, []);
  await feed.poll();

  t.deepEqual(told, ["api_key key_1", "api_key key_2"]);
});

test("changes made elsewhere arrive without a poll", async (t) => {
  const database = await openTestDatabase(t, "sqlite");
  const { told } = await createFeed(t, database, 5);
  await append(database, "key_1");
  await eventually(() => told.length > 0);
  t.deepEqual(told, ["api_key key_1"]);
});

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
