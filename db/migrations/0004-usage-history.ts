import type { MigrationInterface, QueryRunner, TableOptions } from "typeorm";
import { columnKit } from "./columns.ts";
import { stepKit } from "./steps.ts";

export class UsageHistory implements MigrationInterface {
  readonly name = "UsageHistory1763942400000";

  async up(runner: QueryRunner): Promise<void> {
    const databaseType = runner.connection.options.type;
    const isSqlite = databaseType === "better-sqlite3";
    const { createTable, addColumn, createIndex } = await stepKit(runner);
    for (const [column, type] of recordColumns) await addColumn("usage_records", column, `${type} NULL`);
    await runner.query(
      "UPDATE usage_records SET owner_id = (SELECT k.owner_id FROM api_keys k WHERE k.id = usage_records.api_key_id)",
    );
    for (const [index, column] of recordIndices) await createIndex(index, "usage_records", `${column}, id`);
    await createTable(rollUps(databaseType));
    // The inserts would fail on the rows of an interrupted run.
    await runner.query("DELETE FROM usage_roll_ups");
    for (const { resolution, sqlite, mysql } of resolutions) {
      for (const byKey of [true, false])
        await runner.query(fill(resolution, isSqlite ? sqlite : mysql, byKey));
    }
    if (!isSqlite) {
      // Partitions make the deletion of old records fast. `keepUsagePartitions` splits the months off `rest`. A
      // repeated migration can run this statement again.
      await runner.query(
        "ALTER TABLE usage_records PARTITION BY RANGE COLUMNS (id) (PARTITION rest VALUES LESS THAN (MAXVALUE))",
      );
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    const isSqlite = runner.connection.options.type === "better-sqlite3";
    if (!isSqlite) await runner.query("ALTER TABLE usage_records REMOVE PARTITIONING");
    await runner.dropTable("usage_roll_ups");
    for (const [index] of recordIndices) {
      await runner.query(`DROP INDEX ${index}${isSqlite ? "" : " ON usage_records"}`);
    }
    for (const [column] of recordColumns) {
      await runner.query(`ALTER TABLE usage_records DROP COLUMN ${column}`);
    }
  }
}

const recordColumns = [
  ["owner_id", "varchar(40)"],
  ["input_price", "bigint"],
  ["cached_input_price", "bigint"],
  ["cache_write_price", "bigint"],
  ["output_price", "bigint"],
] as const;

const recordIndices = [
  ["usage_records_owner", "owner_id"],
  ["usage_records_model", "model"],
  ["usage_records_provider", "provider"],
  ["usage_records_status", "status"],
] as const;

const resolutions = [
  {
    resolution: "hour",
    sqlite: "substr(created_at, 1, 13) || ':00:00.000'",
    mysql: "CONCAT(LEFT(created_at, 13), ':00:00')",
  },
  {
    resolution: "day",
    sqlite: "substr(created_at, 1, 10) || ' 00:00:00.000'",
    mysql: "CONCAT(LEFT(created_at, 10), ' 00:00:00')",
  },
];

function rollUps(databaseType: string): TableOptions {
  const { id, text, moment, integer, bigInteger } = columnKit(databaseType);
  return {
    name: "usage_roll_ups",
    withoutRowid: databaseType === "better-sqlite3",
    columns: [
      id("resolution", 8),
      moment("starts_at", { isPrimary: true }),
      id("api_key_id"),
      id("owner_id"),
      id("model", 255),
      id("provider", 63),
      id("status", 16),
      text("api_key_name", 255),
      integer("requests"),
      ...["input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens"].map((name) =>
        bigInteger(name),
      ),
      bigInteger("reasoning_tokens"),
      bigInteger("cost"),
      integer("unknown_costs"),
      bigInteger("latency_ms"),
      ...latencyRanges.map((_, index) => integer(`latency${index}`)),
    ],
    indices: [
      { name: "usage_roll_ups_key", columnNames: ["api_key_id", "resolution", "starts_at"] },
      { name: "usage_roll_ups_owner", columnNames: ["owner_id", "resolution", "starts_at"] },
    ],
  };
}

function fill(resolution: string, startsAt: string, byKey: boolean): string {
  const sum = (column: string) => `COALESCE(SUM(${column}), 0)`;
  return `
    INSERT INTO usage_roll_ups
    SELECT '${resolution}', ${startsAt}, ${byKey ? "api_key_id, COALESCE(owner_id, '')" : "'', ''"},
      model, provider, status, ${byKey ? "MAX(api_key_name)" : "''"},
      COUNT(*), ${sum("input_tokens")}, ${sum("output_tokens")}, ${sum("cached_input_tokens")},
      ${sum("cache_write_input_tokens")}, ${sum("reasoning_tokens")}, ${sum("cost")}, COUNT(*) - COUNT(cost),
      ${sum("latency_ms")}, ${latencyRanges.map((range) => `SUM(CASE WHEN latency_ms ${range} THEN 1 ELSE 0 END)`).join(", ")}
    FROM usage_records
    GROUP BY ${startsAt}, ${byKey ? "api_key_id, COALESCE(owner_id, '')," : ""} model, provider, status`;
}

const latencyRanges = [
  "<= 250",
  "BETWEEN 251 AND 500",
  "BETWEEN 501 AND 1000",
  "BETWEEN 1001 AND 2000",
  "BETWEEN 2001 AND 4000",
  "BETWEEN 4001 AND 8000",
  "BETWEEN 8001 AND 16000",
  "BETWEEN 16001 AND 32000",
  "BETWEEN 32001 AND 64000",
  "> 64000",
];
