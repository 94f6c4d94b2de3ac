import test from "ava";
import { openTestDatabase, providerRow, usageRow, userRow } from "../helpers/open-test-database.ts";
import { allDatabaseKinds } from "../helpers/test-database.ts";

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
