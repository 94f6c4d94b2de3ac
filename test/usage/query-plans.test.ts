import { readFileSync } from "node:fs";
import Sqlite from "better-sqlite3";
import mysql from "mysql2/promise";
import test, { type ExecutionContext } from "ava";
import { Database } from "../../db/database.ts";
import { type HotQuery, hotQueries, printHotQueries } from "../helpers/hot-queries.ts";
import { randomUsage, usualWorld } from "../helpers/random-usage.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import {
  createMigratedDatabase,
  type DatabaseKind,
  type ServerKind,
  serverKinds,
} from "../helpers/test-database.ts";

const rows = 8_000;
const limits = { connectionsMax: 4, connectTimeoutMs: 5_000, operationTimeoutMs: 30_000 };

async function createHistory(t: ExecutionContext, kind: DatabaseKind): Promise<string> {
  const url = await createMigratedDatabase(t, kind);
  const database = await Database.open(url, limits);
  await database.migrate();
  const random = seededRandom(1);
  for (let from = 0; from < rows; from += 2_000) {
    const records = Array.from({ length: 2_000 }, () =>
      randomUsage(random, new Date(Date.UTC(2026, 10, 1) + random.upTo(28 * 86_400_000)), usualWorld),
    );
    await database.write(({ usageRecords }) => usageRecords.insertAll(records));
  }
  await database.close();
  return url;
}

test("the statements equal the checked-in ones: run `test/usage/print-hot-queries.ts`", (t) => {
  t.is(printHotQueries(), readFileSync(new URL("hot-queries.sql", import.meta.url), "utf8"));
});

// Tests run serially, because SQLite blocks the thread that MySQL needs.
test.serial("sqlite: every query has an index that returns its rows in order", async (t) => {
  const database = new Sqlite((await createHistory(t, "sqlite")).slice("sqlite:".length));
  t.teardown(() => database.close());
  database.function("in_time", (_deadline) => 1);
  for (const { title, index, query } of hotQueries({ kind: "better-sqlite3", timeoutMs: 2_000 })) {
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${query.sql}`).all(query.parameters) as {
      detail: string;
    }[];
    const details = plan.map(({ detail }) => detail).join("; ");
    t.regex(
      details,
      new RegExp(`SEARCH \\w+ USING ${index === null ? "PRIMARY KEY" : `INDEX ${index}`} \\(`),
      title,
    );
    t.false(details.includes("SCAN"), `${title}: ${details}`);
    if (query.sql.includes("ORDER BY")) t.false(details.includes("ORDER BY"), `${title}: ${details}`);
  }
});

for (const kind of serverKinds) {
  test.serial(`${kind}: every query has an index that returns its rows in order`, async (t) => {
    const connection = await mysql.createConnection(await createHistory(t, kind));
    t.teardown(() => connection.end());
    await connection.query("ANALYZE TABLE usage_records, usage_roll_ups");
    for (const { title, index, query } of hotQueries({ kind, timeoutMs: 2_000 })) {
      const [plan] = await connection.query<mysql.RowDataPacket[]>(explained(kind, query), query.parameters);
      const [step] = plan;
      t.is(plan.length, 1, title);
      t.is(step?.["key"], index ?? "PRIMARY", title);
      t.true(["range", "ref"].includes(step?.["type"]), `${title}: ${step?.["type"]}`);
      if (query.sql.includes("ORDER BY"))
        t.false(step?.["Extra"].includes("filesort"), `${title}: ${step?.["Extra"]}`);
    }
  });
}

/** MySQL's default is a tree. MariaDB has only the table, and expects EXPLAIN after `SET STATEMENT … FOR`. */
function explained(kind: ServerKind, { sql }: HotQuery["query"]): string {
  return sql.replace("SELECT", `EXPLAIN ${kind === "mysql" ? "FORMAT=TRADITIONAL " : ""}SELECT`);
}
