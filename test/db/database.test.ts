import { setImmediate as nextTurn } from "node:timers/promises";
import { createServer } from "node:net";
import test from "ava";
import Sqlite from "better-sqlite3";
import mysql from "mysql2/promise";
import {
  modelRow,
  openDatabaseAt,
  openTestDatabase,
  providerRow,
  usageRow,
  userRow,
} from "../helpers/open-test-database.ts";
import {
  allDatabaseKinds,
  createMigratedDatabase,
  createServerDatabase,
  createTestDatabase,
  serverKinds,
} from "../helpers/test-database.ts";
import { DatabaseUnavailableError, DuplicateError, StillReferencedError } from "../../db/database-errors.ts";
import { Database } from "../../db/database.ts";
import { assertRollUpsMatch } from "../helpers/assert-roll-ups-match.ts";
import { eventually, hangMs } from "../helpers/eventually.ts";
import { freePort } from "../helpers/free-port.ts";
import { listen } from "../helpers/listen.ts";

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
  test(`${kind}: a timestamp keeps its milliseconds, in skipped and repeated hours, till 9999`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const moments = [
      "2026-03-29T01:30:00.123Z",
      "2026-10-25T00:59:59.999Z",
      "2026-01-01T00:00:00.001Z",
      "9999-12-31T23:59:59.000Z",
    ];
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

    const foundIds = found.map((row) => row?.id ?? null);
    t.deepEqual(foundIds, ["usr_AB", "usr_ab", null]);
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

for (const kind of allDatabaseKinds) {
  test(`${kind}: a duplicate unique value throws a DuplicateError`, async (t) => {
    const database = await openTestDatabase(t, kind);
    await database.write(({ users }) => users.insert(userRow("usr_1", { email: "ada@example.com" })));

    for (const row of [userRow("usr_2", { email: "ada@example.com" }), userRow("usr_1")]) {
      const inserting = database.write(({ users }) => users.insert(row));
      await t.throwsAsync(inserting, { instanceOf: DuplicateError });
    }
  });

  test(`${kind}: a dangling reference throws a StillReferencedError`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const model = modelRow("mdl_1", "prv_1");
    const orphan = database.write(({ models }) => models.insert(model));
    await t.throwsAsync(orphan, { instanceOf: StillReferencedError });

    await database.write(async ({ providers, models }) => {
      await providers.insert(providerRow("prv_1"));
      await models.insert(model);
    });
    const deletion = database.write(({ providers }) => providers.delete("prv_1"));
    await t.throwsAsync(deletion, { instanceOf: StillReferencedError });
    t.not(await database.read(({ providers }) => providers.find("prv_1")), null);
  });

  test(`${kind}: a timeout throws a DatabaseUnavailableError and spares later work`, async (t) => {
    const url = await createMigratedDatabase(t, kind);
    // Opening may also need longer than 300 ms on a busy machine.
    const database = await eventually(() =>
      openDatabaseAt(t, url, { operationTimeoutMs: 300 }).catch(ignoreUnavailable),
    );
    const end = Promise.withResolvers<void>();

    const writing = database.write(() => end.promise);
    await t.throwsAsync(writing, { instanceOf: DatabaseUnavailableError, message: /within 300 ms/ });

    end.resolve();
    // The work itself may also need longer than 300 ms on a busy machine.
    await inTime(() => database.write(({ users }) => users.insert(userRow("usr_1"))));
    t.is(await inTime(() => database.read(({ users }) => users.count())), 1);
  });

  test(`${kind}: an error of the callback is rethrown unchanged`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const mistake = new TypeError("a mistake");
    const thrown = await t.throwsAsync(database.write(() => Promise.reject(mistake)));
    t.is(thrown, mistake);
  });
}

for (const kind of serverKinds) {
  test(`${kind}: two deadlocked transactions both commit, one of them by a retry`, async (t) => {
    const database = await openTestDatabase(t, kind);
    await database.write(async ({ users }) => {
      await users.insert(userRow("usr_1"));
      await users.insert(userRow("usr_2"));
    });
    const locked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let attempts = 0;

    const change = (first: string, second: string, own: number, hash: string) =>
      database.write(async ({ users }) => {
        attempts++;
        await users.update(first, { passwordHash: hash });
        // Each transaction locks its first row before either requests its second.
        locked[own]?.resolve();
        await locked[1 - own]?.promise;
        await users.update(second, { passwordHash: hash });
      });
    await Promise.all([change("usr_1", "usr_2", 0, "a"), change("usr_2", "usr_1", 1, "b")]);

    t.is(attempts, 3);
    const [one, two] = await database.read(async ({ users }) => [
      await users.find("usr_1"),
      await users.find("usr_2"),
    ]);
    t.is(one?.passwordHash, two?.passwordHash);
  });
}

test("a server that never answers throws a DatabaseUnavailableError", async (t) => {
  const port = await listen(t, createServer());
  const limits = { connectionsMax: 2, connectTimeoutMs: 200, operationTimeoutMs: 200 };

  const opening = Database.open(`mysql://root:hidden-word@127.0.0.1:${port}/gateway`, limits);

  const error = await t.throwsAsync(opening, { instanceOf: DatabaseUnavailableError });
  t.false(error?.message.includes("hidden-word"));
});

test("an unreachable server throws a DatabaseUnavailableError", async (t) => {
  const limits = { connectionsMax: 2, connectTimeoutMs: hangMs, operationTimeoutMs: hangMs };
  const opening = Database.open(`mysql://root:hidden-word@127.0.0.1:${await freePort()}/gateway`, limits);

  await t.throwsAsync(opening, { instanceOf: DatabaseUnavailableError, message: /ECONNREFUSED/ });
});

for (const kind of serverKinds) {
  test(`${kind}: a batch rolled back after a deadlock leaves no uncounted records`, async (t) => {
    const url = await createServerDatabase(t, kind);
    const database = await openDatabaseAt(t, url);
    // The batch is large enough for several statements.
    const batch = Array.from({ length: 1_000 }, (_, index) => usageRow(idOf(index)));
    const other = await mysql.createConnection({ uri: url, connectTimeout: hangMs });
    t.teardown(() => other.end());
    await database.write(({ usageRecords }) => usageRecords.insertAll([usageRow("req_a")]));

    // This transaction does more work than the batch, so that InnoDB rolls back the batch.
    await other.query("BEGIN");
    await other.query(
      copiesOf(
        "req_a",
        Array.from({ length: 2_000 }, (_, index) => `req_b_${index}`),
      ),
    );
    await other.query(copiesOf("req_a", [idOf(100)]));
    const writing = database.write(({ usageRecords }) => usageRecords.insertAll(batch));
    await eventually(() => isInserted(url, idOf(50)));
    await other.query(copiesOf("req_a", [idOf(50)]));
    await other.query("ROLLBACK");
    await writing;

    t.is(await assertRollUpsMatch(url), 1_001);
  });
}

function idOf(index: number): string {
  return `req_${String(index).padStart(6, "0")}`;
}

/** Returns a statement that inserts copies of a record under other IDs. */
function copiesOf(id: string, copies: string[]): string {
  const rest =
    "created_at, api_key_id, api_key_name, model, provider, attempts, endpoint, stream, status, http_status, estimated, latency_ms";
  const ids = copies.map((copy) => `SELECT '${copy}' AS copy`).join(" UNION ALL ");
  return `INSERT INTO usage_records (id, ${rest}) SELECT copy, ${rest} FROM usage_records, (${ids}) AS copies WHERE id = '${id}'`;
}

/**
 * Returns whether a record is inserted, even if uncommitted. InnoDB's transaction list is cached for 100 ms, so it
 * cannot be polled.
 */
async function isInserted(url: string, id: string): Promise<boolean> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: hangMs });
  try {
    await connection.query("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED");
    const [rows] = await connection.query<mysql.RowDataPacket[]>("SELECT 1 FROM usage_records WHERE id = ?", [
      id,
    ]);
    return rows.length > 0;
  } finally {
    await connection.end();
  }
}

/** Repeats work that exceeded the database's time limit. An insert may have succeeded nevertheless. */
function inTime<Result>(work: () => Promise<Result>): Promise<Result | true> {
  return eventually(() =>
    work().catch((error: unknown) => {
      if (error instanceof DuplicateError) return true;
      return ignoreUnavailable(error);
    }),
  );
}

function ignoreUnavailable(error: unknown): false {
  if (error instanceof DatabaseUnavailableError) return false;
  throw error;
}
