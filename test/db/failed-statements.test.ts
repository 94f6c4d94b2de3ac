import test, { type ExecutionContext } from "ava";
import Sqlite from "better-sqlite3";
import type { Database, Repositories } from "../../db/database.ts";
import { openDatabaseAt, usageRow, userRow } from "../helpers/open-test-database.ts";
import { createMigratedDatabase } from "../helpers/test-database.ts";

/** Each failure is an error of the driver's `prepare`, `run` or `all`, before or after the statement ran. */
type Fault = { at: number; when: "before" | "after"; code: string };

let fault: Fault | null = null;
let count = 0;
let said: string[] = [];

/** Wraps every statement of the driver, so that no statement is missed. */
function wrapDriver(): void {
  const fail = (code: string) => {
    throw Object.assign(new Sqlite.SqliteError("made to fail", code));
  };
  const watch = <Result>(sql: string, run: () => Result): Result => {
    const mine = fault !== null && fault.at === count ? fault : null;
    count++;
    said.push(sql);
    if (mine?.when === "before") fail(mine.code);
    const result = run();
    if (mine) fail(mine.code);
    return result;
  };
  const { prototype } = Sqlite;
  const { prepare, exec } = prototype;
  prototype.exec = function (sql) {
    return watch(sql, () => exec.call(this, sql));
  };
  prototype.prepare = function (this: Sqlite.Database, sql: string) {
    const statement = prepare.call(this, sql);
    for (const name of ["run", "all", "get"] as const) {
      const original = statement[name].bind(statement) as (...parameters: unknown[]) => unknown;
      Object.assign(statement, {
        [name]: (...parameters: unknown[]) => watch(sql, () => original(...parameters)),
      });
    }
    return statement;
  } as typeof prepare;
}

wrapDriver();
test.afterEach.always(() => void (fault = null));

const writes: Record<string, (repositories: Repositories, id: string) => Promise<unknown>> = {
  "usage records": ({ usageRecords }, id) => usageRecords.insertAll([usageRow(`req_${id}`)]),
  "a person": async ({ users }, id) => {
    await users.insert(userRow(`usr_${id}`));
    await users.update(`usr_${id}`, { passwordHash: "new" });
  },
  "a change": ({ changes }, id) => changes.append("api_key", `key_${id}`, new Date()),
};

async function nextWriteIsSeen(t: ExecutionContext, database: Database, file: string, id: string) {
  await database.write(({ users }) => users.insert(userRow(`usr_next_${id}`)));
  const second = new Sqlite(file, { timeout: 0 });
  try {
    const row = second.prepare("SELECT id FROM users WHERE id = ?").get(`usr_next_${id}`);
    t.truthy(row, `after ${id}`);
    t.notThrows(() => second.exec("BEGIN IMMEDIATE; ROLLBACK"), `no lock remains after ${id}`);
  } finally {
    second.close();
  }
}

for (const [title, write] of Object.entries(writes)) {
  test.serial(`sqlite: after a failed statement of ${title}, the next write is durable`, async (t) => {
    t.timeout(120_000);
    const url = await createMigratedDatabase(t, "sqlite");
    const database = await openDatabaseAt(t, url);
    const file = url.slice("sqlite:".length);
    count = 0;
    said = [];
    await database.write((repositories) => write(repositories, "whole"));
    const statements = said.slice();
    const hasEnd = statements.some((sql) => sql.startsWith("COMMIT"));
    t.true(hasEnd, "the end counts as a statement");

    for (const [at, sql] of statements.entries()) {
      for (const when of ["before", "after"] as const) {
        for (const code of ["SQLITE_FULL", "SQLITE_IOERR_WRITE"]) {
          const id = `${at}_${when}_${code}`;
          count = 0;
          fault = { at, when, code };
          await t.throwsAsync(
            database.write((repositories) => write(repositories, id)),
            { name: "DatabaseUnavailableError" },
            `${sql} ${id}`,
          );
          fault = null;
          t.not(database.writeHealth.trouble, null);
          await nextWriteIsSeen(t, database, file, id);
          t.is(database.writeHealth.trouble, null);
        }
      }
    }
    t.log(`${statements.length} statements, each failed in 4 ways`);
  });
}

/** A failed COMMIT that has rolled back, then a constraint error: nothing may stay open. */
test.serial("sqlite: after a failed COMMIT and a duplicate, writes are durable", async (t) => {
  const url = await createMigratedDatabase(t, "sqlite");
  const database = await openDatabaseAt(t, url);
  const file = url.slice("sqlite:".length);
  const insert = (id: string) => database.write(({ users }) => users.insert(userRow(id)));
  said = [];
  await insert("usr_1");
  const end = said.findIndex((sql) => sql.startsWith("COMMIT"));
  // Both ways in which TypeORM lost its count: the transaction is over, or ROLLBACK fails too.
  for (const when of ["before", "after"] as const) {
    count = 0;
    fault = { at: end, when, code: "SQLITE_FULL" };
    await t.throwsAsync(insert(`usr_failed_${when}`));
    fault = null;
    await t.throwsAsync(insert("usr_1"), { name: "DuplicateError" });
    await nextWriteIsSeen(t, database, file, when);
  }
});

test.serial("sqlite: a transaction that cannot be rolled back ends with its connection", async (t) => {
  const url = await createMigratedDatabase(t, "sqlite");
  const database = await openDatabaseAt(t, url);
  const { exec } = Sqlite.prototype;
  Sqlite.prototype.exec = function (sql) {
    if (sql === "ROLLBACK") throw new Sqlite.SqliteError("made to fail", "SQLITE_IOERR");
    return exec.call(this, sql);
  };
  try {
    await t.throwsAsync(
      database.write(async ({ users }) => {
        await users.insert(userRow("usr_1"));
        throw new Error("changed my mind");
      }),
      { message: "changed my mind" },
    );
  } finally {
    Sqlite.prototype.exec = exec;
  }
  t.is(await database.read(({ users }) => users.find("usr_1")), null);
  await nextWriteIsSeen(t, database, url.slice("sqlite:".length), "reopened");
});
