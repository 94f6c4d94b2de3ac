import test from "ava";
import { openDataSource } from "../../db/data-source.ts";
import { Database } from "../../db/database.ts";
import type { UsageRecordRow } from "../../db/entities/usage-record.ts";
import { UsageHistory } from "../../gateway/usage/history/usage-history.ts";
import { assertRollUpsMatch } from "../helpers/assert-roll-ups-match.ts";
import { usageRow } from "../helpers/open-test-database.ts";
import { queryDatabase } from "../helpers/query-database.ts";
import { randomUsage } from "../helpers/random-usage.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { allDatabaseKinds, createMigratedDatabase, databaseKinds } from "../helpers/test-database.ts";
import { undoMigrations } from "../helpers/undo-migrations.ts";
import { admin } from "../helpers/usage-fixture.ts";

const limits = { connectionsMax: 10, connectTimeoutMs: 5_000, operationTimeoutMs: 20_000 };
const world = { keys: 5, models: 4, providers: 2, owners: 3 };

for (const kind of allDatabaseKinds) {
  test(`${kind}: roll-ups equal the sums of records under any batching and overlap`, async (t) => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    t.log({ seed });
    const random = seededRandom(seed);
    const url = await createMigratedDatabase(t, kind);
    const first = await Database.open(url, limits);
    await first.migrate();
    // SQLite supports one writer at a time.
    const databases = [first];
    if (kind !== "sqlite")
      for (let more = 0; more < 3; more++) databases.push(await Database.open(url, limits));
    t.teardown(() => Promise.all(databases.map((database) => database.close())));

    const moments: [string, ...string[]] = [
      "2026-10-31T23:59:59.999Z",
      "2026-11-01T00:00:00.000Z",
      "2026-11-01T00:59:00.500Z",
    ];
    const records = Array.from({ length: 3_000 }, () => {
      const moment = random.chance(0.3)
        ? new Date(random.pick(moments)).getTime()
        : Date.UTC(2026, 9, 28) + random.upTo(5 * 86_400_000);
      return randomUsage(random, new Date(moment), world);
    });
    const batches: UsageRecordRow[][] = [];
    for (let from = 0; from < records.length;) {
      const size = random.pick([1, 2, 20, 400, 1_500]);
      const start = Math.max(0, from - (random.chance(0.5) ? random.upTo(size) : 0));
      const batch = records.slice(start, from + size);
      batches.push(batch);
      if (random.chance(0.3)) batches.push(batch);
      if (random.chance(0.2)) batches.push([...batch, ...batch].reverse());
      from += size;
    }
    await Promise.all(
      batches.map((batch, index) =>
        databases[index % databases.length]?.write(({ usageRecords }) => usageRecords.insertAll(batch)),
      ),
    );

    t.is(await assertRollUpsMatch(url), records.length);
  });

  test(`${kind}: a rolled back batch counts nowhere and does not affect the next`, async (t) => {
    const url = await createMigratedDatabase(t, kind);
    const database = await Database.open(url, limits);
    t.teardown(() => database.close());
    await database.migrate();

    const undone = database.write(async ({ usageRecords }) => {
      await usageRecords.insertAll([usageRow("req_1"), usageRow("req_2")]);
      throw new Error("changed my mind");
    });
    await t.throwsAsync(undone, { message: "changed my mind" });
    t.is(await assertRollUpsMatch(url), 0);

    await database.write(({ usageRecords }) =>
      usageRecords.insertAll([usageRow("req_2"), usageRow("req_3")]),
    );
    t.is(await assertRollUpsMatch(url), 2);
  });

  test(`${kind}: the migration counts earlier records for the owner of the key`, async (t) => {
    const url = await createMigratedDatabase(t, kind);
    const database = await Database.open(url, limits);
    t.teardown(() => database.close());
    await database.migrate();
    const random = seededRandom(6);
    const records = Array.from({ length: 500 }, () => {
      const createdAt = new Date(Date.UTC(2026, 9, 28) + random.upTo(5 * 86_400_000));
      return { ...randomUsage(random, createdAt, world), ownerId: null };
    });
    await database.write(({ usageRecords }) => usageRecords.insertAll(records));
    const dataSource = await openDataSource(url, limits);
    t.teardown(() => dataSource.destroy());
    await undoMigrations(dataSource, "UsageHistory1763942400000");
    await database.migrate();

    t.is(await assertRollUpsMatch(url, { areOld: true }), 500);
    const tables = await queryDatabase(url, "SELECT COUNT(*) AS count FROM usage_roll_ups");
    t.true(Number(tables[0]?.["count"]) > 3);
  });
}

for (const kind of databaseKinds) {
  test(`${kind}: sums of an earlier release have unknown tools, and hide no record`, async (t) => {
    const url = await createMigratedDatabase(t, kind);
    const database = await Database.open(url, limits);
    t.teardown(() => database.close());
    await database.migrate();
    const random = seededRandom(3);
    const world = { keys: 4, models: 3, providers: 2, owners: 2 };
    const startMs = Date.UTC(2026, 10, 1);
    const insert = async (fromMs: number) => {
      const records = Array.from({ length: 300 }, () =>
        randomUsage(random, new Date(fromMs + random.upTo(5 * 86_400_000)), world),
      );
      await database.write(({ usageRecords }) => usageRecords.insertAll(records));
      return records;
    };
    const old = await insert(startMs);
    const dataSource = await openDataSource(url, limits);
    t.teardown(() => dataSource.destroy());
    await undoMigrations(dataSource, "UsageAnalytics1764633600000");
    await database.migrate();
    // The earlier release may write such a row during a rolling restart.
    await dataSource.query(`INSERT INTO usage_roll_ups (resolution, starts_at, api_key_id, owner_id, model, provider,
      status, api_key_name, requests, input_tokens, output_tokens, cached_input_tokens, cache_write_input_tokens,
      reasoning_tokens, cost, unknown_costs, latency_ms, latency0, latency1, latency2, latency3, latency4, latency5,
      latency6, latency7, latency8, latency9)
      VALUES ('day', '2026-11-20 00:00:00.000', '', '', 'm', 'p', 'FAILED', '', 2, 0, 0, 0, 0, 0, 0, 2, 1, 2, 0, 0,
      0, 0, 0, 0, 0, 0, 0)`);
    const known = await insert(startMs + 10 * 86_400_000);

    const history = new UsageHistory({
      database,
      limits: { usageQueryTimeoutMs: 20_000, usageSummaryRowsMax: 1_000 },
    });
    const sums = await history.summarize(admin, {}, { groupBy: ["clientTool"], interval: null });
    const count = (tool: string) => known.filter(({ clientTool }) => (clientTool ?? "") === tool).length;
    t.deepEqual(Object.fromEntries(sums.map(({ clientTool, requests }) => [clientTool, requests])), {
      unknown: 302,
      ...Object.fromEntries(["codex", "claude-code", "opencode", ""].map((tool) => [tool, count(tool)])),
    });
    const unknown = sums.find(({ clientTool }) => clientTool === "unknown");
    t.is(
      unknown?.firstTokens.reduce((sum, each) => sum + each),
      0,
    );

    const criteria = { clientTool: "codex", status: "SUCCEEDED", minLatencyMs: 1_000 } as const;
    const page = await history.list(admin, criteria, { first: 500 });
    const matches = [...old, ...known].filter(
      ({ clientTool, status, latencyMs }) =>
        clientTool === "codex" && status === "SUCCEEDED" && latencyMs >= 1_000,
    );
    t.true(matches.length > 50);
    t.is(page.records.length, matches.length);
    t.deepEqual((await history.list(admin, criteria, { first: 40 })).records, page.records.slice(0, 40));
  });
}
