import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import test, { type ExecutionContext } from "ava";
import Sqlite from "better-sqlite3";
import mysql from "mysql2/promise";
import { QueryTooLongError } from "../../db/database-errors.ts";
import { Database } from "../../db/database.ts";
import { toGatewayError } from "../../gateway/errors.ts";
import { UsageHistory } from "../../gateway/usage/history/usage-history.ts";
import { hotQueries, type HotQuery, printHotQueries } from "../helpers/hot-queries.ts";
import { hangMs } from "../helpers/eventually.ts";
import { openDatabaseAt } from "../helpers/open-test-database.ts";
import {
  allDatabaseKinds,
  createMigratedDatabase,
  type DatabaseKind,
  type ServerKind,
  serverKinds,
} from "../helpers/test-database.ts";
import { askHistory } from "../helpers/ask-history.ts";
import { fillHistory } from "../helpers/fill-history.ts";
import { isFull } from "../helpers/scale.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

const rows = 8_000;
const limits = { connectionsMax: 4, connectTimeoutMs: hangMs, operationTimeoutMs: hangMs };

async function createHistory(t: ExecutionContext, kind: DatabaseKind): Promise<string> {
  const url = await createMigratedDatabase(t, kind);
  const database = await Database.open(url, limits);
  await database.migrate();
  const from = Date.UTC(2026, 10, 1);
  await fillHistory(database, { rows, from, to: from + 28 * 86_400_000 });
  await database.close();
  return url;
}

test("the statements equal the checked-in ones: run `test/usage/print-hot-queries.ts`", (t) => {
  t.is(printHotQueries(), readFileSync(new URL("hot-queries.sql", import.meta.url), "utf8"));
});

// Tests run serially, because SQLite blocks the thread that the MySQL client needs.
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
    const uri = await createHistory(t, kind);
    const connection = await mysql.createConnection({ uri, connectTimeout: hangMs });
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

/** `FORMAT=TRADITIONAL` requests a table. MariaDB expects EXPLAIN after `SET STATEMENT … FOR`. */
function explained(kind: ServerKind, { sql }: HotQuery["query"]): string {
  return sql.replace("SELECT", `EXPLAIN ${kind === "mysql" ? "FORMAT=TRADITIONAL " : ""}SELECT`);
}

for (const kind of allDatabaseKinds) {
  test.serial(`${kind}: the database ends a slow query and stays available`, async (t) => {
    const url = await createMigratedDatabase(t, kind);
    const database = await openDatabaseAt(t, url);
    const start = Date.UTC(2026, 10, 1);
    await fillHistory(database, { rows: 5_000, from: start, to: start + 3_599_000 });
    const person = {
      id: "usr_1",
      name: "Ada",
      email: "ada@example.com",
      sessionId: "ses_1",
      role: "admin",
    } as const;
    // The period is shorter than an hour, so the query sums usage records instead of roll-ups.
    const criteria = { from: new Date(start + 1), to: new Date(start + 3_598_000) };
    const ask = (usageQueryTimeoutMs: number) =>
      new UsageHistory({
        database,
        limits: { usageQueryTimeoutMs, usageSummaryRowsMax: 10_000 },
      }).summarize(person, criteria, { groupBy: ["apiKeyId", "model"], interval: "hour" });

    const unlock = kind === "sqlite" ? null : await lockUsage(url);
    const error = await t.throwsAsync(ask(1), { instanceOf: QueryTooLongError });
    t.like(toGatewayError(error), { code: "service_unavailable", retryAfterSeconds: 5 });
    await unlock?.();

    const rows = await ask(hangMs);
    t.true(rows.reduce((sum, { requests }) => sum + requests, 0) > 4_900);
  });
}

/** Makes queries of the history wait, because a fast server answers before it checks their time limit. */
async function lockUsage(url: string): Promise<() => Promise<void>> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: hangMs });
  await connection.query("LOCK TABLES usage_records WRITE, usage_roll_ups WRITE");
  return () => connection.end();
}

const dayMs = 86_400_000;
const summary = "apiKeyId model requests inputTokens outputTokens costUsd p95DurationMs";
const documents = {
  page: "{ usageRecords(first: 50) { edges { node { id model costUsd } } } }",
  "rare page": "{ usageRecords(filter: { status: FAILED, minLatencyMs: 100 }) { edges { node { id } } } }",
  "whole page":
    "{ usageRecords(first: 500) { edges { node { id createdAt model provider costUsd latencyMs } } } }",
  record: '{ usageRecord(id: "req_1") { id } }',
  "by model": `{ usageSummary(groupBy: [MODEL]) { ${summary} } }`,
  "by key and model": `{ usageSummary(groupBy: [API_KEY, MODEL]) { ${summary} } }`,
  "by day": `{ usageSummary(groupBy: [PROVIDER], interval: DAY) { ${summary} } }`,
};

test("on SQLite, no question about the history runs in the thread that relays streams", async (t) => {
  const gateway = await startTestGateway(t);
  const { admin, accessToken, services } = gateway;
  const now = Date.now();
  const history = { rows: isFull ? 1_000_000 : 2_000, from: now - 30 * dayMs, to: now };
  await fillHistory(services.database, history);
  const questions: Record<string, () => Promise<unknown>> = {
    ...Object.fromEntries(
      Object.entries(documents).map(([name, document]) => [
        name,
        async () => t.deepEqual((await askHistory(gateway, accessToken, document)).errors, []),
      ]),
    ),
    onboarding: () => admin.overview.onboarding.query(),
    overview: () => admin.overview.get.query({ period: "30d" }),
    top: () => admin.overview.top.query({ period: "30d" }),
    spending: () => admin.overview.spending.query(),
    "keys that need attention": () => admin.overview.keys.query(),
    "audit log": () => admin.audit.list.query({}),
  };
  const delays = monitorEventLoopDelay({ resolution: 10 });
  for (const [name, ask] of Object.entries(questions)) {
    const here: string[] = [];
    const { prepare } = Sqlite.prototype;
    Sqlite.prototype.prepare = new Proxy(prepare, {
      apply(target, connection, [sql]: [string]) {
        if (historySelect.test(sql)) here.push(sql);
        return Reflect.apply(target, connection, [sql]);
      },
    });
    try {
      await ask();
    } finally {
      Sqlite.prototype.prepare = prepare;
    }
    t.deepEqual(here, [], name);
    for (const count of [1, 6]) {
      delays.reset();
      delays.enable();
      const startedAt = performance.now();
      for (let round = 0; round < (isFull ? 3 : 1); round++)
        await Promise.all(Array.from({ length: count }, ask));
      const ms = Math.round(performance.now() - startedAt);
      delays.disable();
      if (isFull) {
        const [p99, max] = [delays.percentile(99), delays.max].map((ns) => (ns / 1e6 - 10).toFixed(1));
        t.log(`${name}, ${count} at once: ${ms} ms, event loop p99 +${p99} ms, max +${max} ms`);
      }
    }
  }
});

const historySelect = /SELECT.*FROM\W+(usage_records|usage_roll_ups|provider_half_hours|audit_entries)/s;
