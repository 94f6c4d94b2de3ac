import test from "ava";
import { openDataSource } from "../../db/data-source.ts";
import { Database } from "../../db/database.ts";
import type { Person } from "../../gateway/auth/person.ts";
import { UsageHistory } from "../../gateway/usage/history/usage-history.ts";
import { randomUsage } from "../helpers/random-usage.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { createMigratedDatabase, databaseKinds } from "../helpers/test-database.ts";
import { undoMigrations } from "../helpers/undo-migrations.ts";

const limits = { connectionsMax: 4, connectTimeoutMs: 5_000, operationTimeoutMs: 20_000 };
const admin: Person = {
  id: "usr_admin",
  name: "Ada",
  email: "ada@example.com",
  role: "admin",
  sessionId: "ses_1",
};

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
    // The earlier release writes this row during a rolling restart.
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
