import test from "ava";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { DatabaseUnavailableError } from "../../db/database-errors.ts";
import { hangMs } from "../helpers/eventually.ts";
import { openDatabaseAt, userRow } from "../helpers/open-test-database.ts";
import { createMigratedDatabase, serverKinds } from "../helpers/test-database.ts";
import { skipUnless } from "../helpers/skip-unless.ts";

// After each failure, a second connection sees the next write.
skipUnless(serverKinds, "a database server");
for (const kind of serverKinds) {
  test.serial(`${kind}: the next write after a kill, deadlock or full disk is durable`, async (t) => {
    const url = await createMigratedDatabase(t, kind);
    const database = await openDatabaseAt(t, url, { connectionsMax: 2, operationTimeoutMs: 20_000 });
    const second = await createConnection({ uri: url, connectTimeout: hangMs });
    t.teardown(() => second.end());
    const ids = async () => {
      const [rows] = await second.query<RowDataPacket[]>("SELECT id FROM users ORDER BY id");
      return rows.map((row) => row["id"] as string);
    };
    const expected: string[] = [];
    const nextWriteIsSeen = async (id: string) => {
      await database.write(({ users }) => users.insert(userRow(id)));
      expected.push(id);
      t.deepEqual(await ids(), expected.toSorted(), "the next write, and nothing of the failed one");
      t.is(database.writeHealth.trouble, null);
    };
    const killOthers = async () => {
      const [rows] = await second.query<RowDataPacket[]>(
        "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()",
      );
      for (const { id } of rows) await second.query(`KILL ${String(id)}`);
    };
    await nextWriteIsSeen("usr_0");

    for (const when of ["before the next statement", "before COMMIT"]) {
      const killed = database.write(async ({ users }) => {
        await users.insert(userRow("usr_lost"));
        await killOthers();
        if (when !== "before COMMIT") await users.insert(userRow("usr_lost_too"));
      });
      await t.throwsAsync(killed, { instanceOf: DatabaseUnavailableError }, when);
      await nextWriteIsSeen(`usr_after_${when === "before COMMIT" ? "commit" : "statement"}`);
    }

    for (const code of ["ER_DISK_FULL", "ER_RECORD_FILE_FULL", "ER_ERROR_DURING_COMMIT"]) {
      const failed = database.write(async ({ users }) => {
        await users.insert(userRow("usr_lost"));
        throw Object.assign(new Error("made to fail"), { code });
      });
      await t.throwsAsync(failed, { instanceOf: DatabaseUnavailableError }, code);
      t.not(database.writeHealth.trouble, null);
      await nextWriteIsSeen(`usr_after_${code}`);
    }

    let tries = 0;
    const both = Promise.withResolvers<void>();
    const crossed = (...rows: [string, string]) =>
      database.write(async ({ users }) => {
        await users.update(rows[0], { name: "changed" });
        if (++tries === 2) both.resolve();
        await both.promise;
        await users.update(rows[1], { name: "changed" });
      });
    const [one, other] = ["usr_0", "usr_after_commit"] as const;
    await Promise.all([crossed(one, other), crossed(other, one)]);
    t.is(tries, 3, "the victim of the deadlock ran again");
    await nextWriteIsSeen("usr_after_deadlock");
  });
}
