import test from "ava";
import { openDataSource } from "../../db/data-source.ts";
import { Database } from "../../db/database.ts";
import { migrate } from "../../db/migrate.ts";
import { linesOfRecord } from "../../gateway/usage/counting/cost.ts";
import { usageRow } from "../helpers/open-test-database.ts";
import { createTestDatabase, allDatabaseKinds } from "../helpers/test-database.ts";
import { undoMigrations } from "../helpers/undo-migrations.ts";

const limits = { connectionsMax: 4, connectTimeoutMs: 5_000, operationTimeoutMs: 20_000 };

for (const kind of allDatabaseKinds) {
  test(`${kind}: records of the previous release are kept, and it can still write`, async (t) => {
    const url = await createTestDatabase(t, kind);
    const dataSource = await openDataSource(url, limits);
    t.teardown(() => dataSource.destroy());
    const database = await Database.open(url, limits);
    t.teardown(() => database.close());
    await migrate(dataSource);
    await undoMigrations(dataSource, "RefusalsAndFailures1764374400000");
    const writeAsBefore = (id: string) =>
      dataSource.query(`
        INSERT INTO usage_records (id, created_at, api_key_id, api_key_name, model, provider, attempts, endpoint,
          stream, status, http_status, error_code, estimated, latency_ms)
        VALUES ('${id}', '2026-11-21 10:00:00.000', 'key_1', 'A key', 'demo/echo', '', 0, 'chat/completions',
          0, 'FAILED', 429, 'rate_limit_exceeded', 0, 1)`);
    await writeAsBefore("req_1");
    // With ALGORITHM=INSTANT, the server rejects a change that would copy records.
    if (kind !== "sqlite") {
      await dataSource.query(
        "ALTER TABLE usage_records ADD COLUMN at_once varchar(16) NULL, ALGORITHM=INSTANT",
      );
      await dataSource.query("ALTER TABLE usage_records DROP COLUMN at_once");
    }

    t.deepEqual(await migrate(dataSource), [
      "RefusalsAndFailures1764374400000",
      "AdministratorsDecisions1764460800000",
      "DroppedParts1764547200000",
      "UsageAnalytics1764633600000",
      "TrueCosts1764720000000",
      "LeastCosts1764806400000",
      "ProviderHalfHours1764892800000",
      "RequestTimings1764979200000",
    ]);

    await writeAsBefore("req_2");
    const record = usageRow("req_3", { limitedBy: "person", errorReason: "budget_per_week" });
    await database.write(({ usageRecords }) => usageRecords.insertAll([record]));
    const rows = await database.read(({ usageRecords }) => usageRecords.listByKey("key_1", 10));
    t.deepEqual(
      rows.map(({ id, limitedBy, errorReason }) => [id, limitedBy, errorReason]),
      [
        ["req_3", "person", "budget_per_week"],
        ["req_2", null, null],
        ["req_1", null, null],
      ],
    );
  });

  test(`${kind}: an upgrade keeps keys, and the older release can still add them`, async (t) => {
    const url = await createTestDatabase(t, kind);
    const dataSource = await openDataSource(url, limits);
    t.teardown(() => dataSource.destroy());
    const database = await Database.open(url, limits);
    t.teardown(() => database.close());
    await migrate(dataSource);
    await undoMigrations(dataSource, "AdministratorsDecisions1764460800000");
    const writeAsBefore = (id: string) =>
      dataSource.query(`
        INSERT INTO api_keys (id, name, status, revision, created_at)
        VALUES ('${id}', 'A key', 'disabled', 1, '2026-11-21 10:00:00.000')`);
    await writeAsBefore("key_1");

    t.deepEqual(await migrate(dataSource), [
      "AdministratorsDecisions1764460800000",
      "DroppedParts1764547200000",
      "UsageAnalytics1764633600000",
      "TrueCosts1764720000000",
      "LeastCosts1764806400000",
      "ProviderHalfHours1764892800000",
      "RequestTimings1764979200000",
    ]);

    await writeAsBefore("key_2");
    await database.write(({ withheldModels }) => withheldModels.add("key_2", ["demo/Echo", "demo/echo"]));
    const keys = await database.read(({ apiKeys }) => apiKeys.list({ owner: "everyone", limit: 10 }));
    t.deepEqual(
      keys.map(({ key, withheldModels }) => [key.id, key.status, key.disabledBy, withheldModels]),
      [
        ["key_2", "disabled", null, ["demo/Echo", "demo/echo"]],
        ["key_1", "disabled", null, []],
      ],
    );
    await dataSource.query("DELETE FROM api_keys");
    t.deepEqual(await dataSource.query("SELECT * FROM api_key_withheld_models"), []);
  });

  test(`${kind}: an upgrade keeps every cost, and the older release can still write`, async (t) => {
    const url = await createTestDatabase(t, kind);
    const dataSource = await openDataSource(url, limits);
    t.teardown(() => dataSource.destroy());
    const database = await Database.open(url, limits);
    t.teardown(() => database.close());
    await migrate(dataSource);
    await undoMigrations(dataSource, "TrueCosts1764720000000");
    const writeAsBefore = (id: string, cost: number | null) =>
      dataSource.query(`
        INSERT INTO usage_records (id, created_at, api_key_id, api_key_name, model, provider, attempts, endpoint,
          stream, status, http_status, estimated, input_tokens, output_tokens, cost, input_price, output_price, latency_ms)
        VALUES ('${id}', '2026-11-21 10:00:00.000', 'key_1', 'A key', 'demo/echo', 'demo', 1, 'chat/completions',
          0, 'SUCCEEDED', 200, 0, 1000, 100, ${cost}, 1000000000, 2000000000, 1)`);
    await writeAsBefore("req_1", 1_200_000);
    await writeAsBefore("req_2", null);

    t.deepEqual(await migrate(dataSource), [
      "TrueCosts1764720000000",
      "LeastCosts1764806400000",
      "ProviderHalfHours1764892800000",
      "RequestTimings1764979200000",
    ]);

    await writeAsBefore("req_3", 7);
    const rows = await database.read(({ usageRecords }) => usageRecords.listByKey("key_1", 10));
    t.deepEqual(
      rows.map(({ id, cost, costDetails, providerCost, markup }) => [
        id,
        cost,
        costDetails,
        providerCost,
        markup,
      ]),
      [
        ["req_3", 7, null, null, 0],
        ["req_2", null, null, null, 0],
        ["req_1", 1_200_000, null, null, 0],
      ],
    );
    // An older record has no `costDetails`, so its lines come from other columns.
    const [line, other] = rows[2] ? linesOfRecord(rows[2]) : [];
    t.like(line, { component: "input", quantity: 1_000, amount: 1_000_000 });
    t.like(other, { component: "output", quantity: 100, amount: 200_000 });
  });
}
