import { once } from "node:events";
import { createServer } from "node:net";
import test from "ava";
import mysql from "mysql2/promise";
import { DatabaseUnavailableError, DuplicateError, StillReferencedError } from "../../db/database-errors.ts";
import { Database } from "../../db/database.ts";
import { assertRollUpsMatch } from "../helpers/assert-roll-ups-match.ts";
import { eventually } from "../helpers/eventually.ts";
import { freePort } from "../helpers/free-port.ts";
import {
  modelRow,
  openDatabaseAt,
  openTestDatabase,
  providerRow,
  usageRow,
  userRow,
} from "../helpers/open-test-database.ts";
import { allDatabaseKinds, createServerDatabase, serverKinds } from "../helpers/test-database.ts";

for (const kind of allDatabaseKinds) {
  test(`${kind}: a duplicate unique value throws a DuplicateError`, async (t) => {
    const database = await openTestDatabase(t, kind);
    await database.write(({ users }) => users.insert(userRow("usr_1", { email: "ada@example.com" })));

    const sameEmail = userRow("usr_2", { email: "ada@example.com" });
    await t.throwsAsync(
      database.write(({ users }) => users.insert(sameEmail)),
      { instanceOf: DuplicateError },
    );
    const sameId = userRow("usr_1");
    await t.throwsAsync(
      database.write(({ users }) => users.insert(sameId)),
      { instanceOf: DuplicateError },
    );
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
    const database = await openTestDatabase(t, kind, { operationTimeoutMs: 300 });
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

const limits = { connectionsMax: 2, connectTimeoutMs: 200, operationTimeoutMs: 200 };

test("a server that never answers throws a DatabaseUnavailableError", async (t) => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  t.teardown(() => silent.close());
  const address = silent.address();
  const port = typeof address === "object" ? address?.port : undefined;

  const opening = Database.open(`mysql://root:hidden-word@127.0.0.1:${port}/gateway`, limits);

  const error = await t.throwsAsync(opening, { instanceOf: DatabaseUnavailableError });
  t.false(error?.message.includes("hidden-word"));
});

test("an unreachable server throws a DatabaseUnavailableError", async (t) => {
  const opening = Database.open(`mysql://root:hidden-word@127.0.0.1:${await freePort()}/gateway`, limits);

  await t.throwsAsync(opening, { instanceOf: DatabaseUnavailableError, message: /ECONNREFUSED/ });
});

for (const kind of serverKinds) {
  test(`${kind}: a batch rolled back after a deadlock leaves no uncounted records`, async (t) => {
    const url = await createServerDatabase(t, kind);
    const database = await openDatabaseAt(t, url);
    // The batch is large enough for several statements.
    const batch = Array.from({ length: 1_000 }, (_, index) => usageRow(idOf(index)));
    const other = await mysql.createConnection(url);
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
  const connection = await mysql.createConnection(url);
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
      if (error instanceof DatabaseUnavailableError) return false;
      throw error;
    }),
  );
}
