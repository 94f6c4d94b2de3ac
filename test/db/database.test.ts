import { setImmediate as nextTurn } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import test from "ava";
import { openDatabaseAt, openTestDatabase, userRow } from "../helpers/open-test-database.ts";
import { createTestDatabase, allDatabaseKinds } from "../helpers/test-database.ts";

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
    // A read that does not queue returns within this time. A queued read returns after the end.
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
