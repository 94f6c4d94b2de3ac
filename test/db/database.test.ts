import { setImmediate as nextTurn } from "node:timers/promises";
import test from "ava";
import Sqlite from "better-sqlite3";
import {
  openDatabaseAt,
  openTestDatabase,
  providerRow,
  usageRow,
  userRow,
} from "../helpers/open-test-database.ts";
import { allDatabaseKinds, createTestDatabase } from "../helpers/test-database.ts";

for (const kind of allDatabaseKinds) {
  test(`${kind}: fifty simultaneous transactions all commit`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const ids = Array.from({ length: 50 }, (_, index) => `usr_${index}`);

    const seen = await Promise.all(
      ids.map((id) =>
        database.write(async ({ users }) => {
          await users.insert(userRow(id));
          await users.update(id, { passwordHash: `hash of ${id}` });
          return users.find(id);
        }),
      ),
    );

    t.deepEqual(
      seen.map((row) => row?.passwordHash),
      ids.map((id) => `hash of ${id}`),
    );
    t.is(await database.read(({ users }) => users.count()), 50);
  });

  test(`${kind}: a write that throws is rolled back without affecting others`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const ids = Array.from({ length: 30 }, (_, index) => `usr_${index}`);

    const results = await Promise.allSettled(
      ids.map((id, index) =>
        database.write(async ({ users }) => {
          await users.insert(userRow(id));
          await users.insert(userRow(`${id}_second`));
          if (index % 3 === 0) throw new Error("changed my mind");
        }),
      ),
    );

    t.is(results.filter(({ status }) => status === "rejected").length, 10);
    for (const [index, id] of ids.entries()) {
      const rows = await database.read(async ({ users }) => [
        await users.find(id),
        await users.find(`${id}_second`),
      ]);
      t.is(rows.filter((row) => row !== null).length, index % 3 === 0 ? 0 : 2, id);
    }
  });

  test(`${kind}: uncommitted changes are invisible to other readers`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const inserted = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const writing = database.write(async ({ users }) => {
      await users.insert(userRow("usr_1"));
      inserted.resolve();
      await end.promise;
      throw new Error("changed my mind");
    });
    await inserted.promise;

    const reading = database.read(({ users }) => users.find("usr_1"));
    // A read that does not queue returns within these turns. A queued read returns only after the write ends.
    await Promise.race([reading, turns(200)]);
    end.resolve();

    await t.throwsAsync(writing, { message: "changed my mind" });
    t.is(await reading, null);
  });
}

test("sqlite: a read-then-write transaction survives a concurrent writer", async (t) => {
  const url = await createTestDatabase(t, "sqlite");
  const database = await openDatabaseAt(t, url);
  const other = new Sqlite(url.slice("sqlite:".length), { timeout: 0 });
  t.teardown(() => other.close());
  const writeElsewhere = () => other.exec("UPDATE counters SET value = value + 1");

  await database.write(async ({ users }) => {
    t.is(await users.find("usr_1"), null);
    t.throws(writeElsewhere, { code: "SQLITE_BUSY" }, "the other has to wait");
    await users.insert(userRow("usr_1"));
  });
  t.notThrows(writeElsewhere);

  t.is((await database.read(({ users }) => users.find("usr_1")))?.id, "usr_1");
});

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn();
}

for (const kind of allDatabaseKinds) {
  test(`${kind}: a timestamp keeps its milliseconds, in skipped and repeated hours, too`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const moments = ["2026-03-29T01:30:00.123Z", "2026-10-25T00:59:59.999Z", "2026-01-01T00:00:00.001Z"];
    for (const [index, moment] of moments.entries()) {
      const user = userRow(`usr_${index}`, { createdAt: new Date(moment) });
      await database.write(({ users }) => users.insert(user));
      const row = await database.read(({ users }) => users.find(user.id));
      t.is(row?.createdAt.toISOString(), moment);
    }
  });

  test(`${kind}: large integers are read as numbers`, async (t) => {
    const database = await openTestDatabase(t, kind);
    for (const cost of [0, 2 ** 40 + 1, Number.MAX_SAFE_INTEGER, null]) {
      const id = `req_${cost}`;
      await database.write(({ usageRecords }) => usageRecords.insertAll([usageRow(id, { cost })]));
      t.is((await database.read(({ usageRecords }) => usageRecords.find(id)))?.cost, cost);
    }
    t.is(await database.read(({ changes }) => changes.latestNumber()), 0);
  });

  test(`${kind}: text is case-sensitive and keeps every character`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const name = "Zoë 🦜 'quotes' \"and\" \\ % _ 日本";
    await database.write(async ({ users }) => {
      await users.insert(userRow("usr_AB", { email: "AB@example.com" }));
      await users.insert(userRow("usr_ab", { email: "ab@example.com", name }));
    });

    const found = await database.read(async ({ users }) => [
      await users.find("usr_AB"),
      await users.findByEmail("ab@example.com"),
      await users.find("usr_Ab"),
    ]);

    t.deepEqual(
      found.map((row) => row?.id ?? null),
      ["usr_AB", "usr_ab", null],
    );
    t.is(found[1]?.name, name);
  });

  test(`${kind}: a provider's timeouts are read as the same object`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const timeouts = { idleTimeoutMs: 1, totalTimeoutMs: 3_600_000 };
    await database.write(({ providers }) => providers.insert(providerRow("prv_1", { timeouts })));
    const row = await database.read(({ providers }) => providers.find("prv_1"));
    t.deepEqual(row?.timeouts, timeouts);
  });

  test(`${kind}: a usage record is read as written, including its flags`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const record = usageRow("req_1", {
      createdAt: new Date("2026-05-05T05:05:05.005Z"),
      stream: true,
      status: "CANCELLED",
      errorCode: "upstream_error",
      limitedBy: "gateway",
      errorReason: "connection_refused",
      dropped: "tools.web_search",
      cost: 123_456_789_012,
      timeToFirstTokenMs: 0,
      timing: {
        receivedMs: 1,
        attempts: [{ provider: "test", model: "echo", startMs: 2, durationMs: 3, failure: "http_429" }],
      },
    });
    await database.write(({ usageRecords }) => usageRecords.insertAll([record]));
    t.deepEqual({ ...(await database.read(({ usageRecords }) => usageRecords.find("req_1"))) }, record);
  });

  test(`${kind}: usage records sent twice are stored once, as first sent`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const records = Array.from({ length: 500 }, (_, index) => usageRow(`req_${index}`));
    const again = [usageRow("req_0", { latencyMs: 999 }), ...records.slice(1), usageRow("req_new")];

    await database.write(({ usageRecords }) => usageRecords.insertAll(records));
    await database.write(({ usageRecords }) => usageRecords.insertAll(again));
    await database.write(({ usageRecords }) => usageRecords.insertAll([]));

    const rows = await database.read(({ usageRecords }) => usageRecords.listByKey("key_1", 2_000));
    t.is(rows.length, 501);
    t.is(rows.find(({ id }) => id === "req_0")?.latencyMs, 3);
  });
}
