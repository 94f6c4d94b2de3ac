import { type MigrationInterface, type QueryRunner, Table } from "typeorm";
import { columnKit } from "./columns.ts";
import { stepKit } from "./steps.ts";

/** The new columns need defaults, because the previous release inserts sums without them during a rolling restart. */
export class UsageAnalytics implements MigrationInterface {
  readonly name = "UsageAnalytics1764633600000";

  async up(runner: QueryRunner): Promise<void> {
    const { addColumn, createIndex } = await stepKit(runner);
    await createIndex("usage_records_tool", "usage_records", "client_tool, id");
    await createIndex("usage_records_reason", "usage_records", "error_reason, id");
    if (isSqlite(runner)) return await copyTable(runner, { hasFacts: true });
    for (const name of addedKeyColumns)
      await addColumn("usage_roll_ups", name, `varchar(${lengths[name]}) NOT NULL DEFAULT 'unknown'`);
    for (const name of firstTokenColumns) await addColumn("usage_roll_ups", name, "int NOT NULL DEFAULT 0");
    // A repeated migration can run this statement again.
    const key = [...keyColumns, ...addedKeyColumns].join(", ");
    await runner.query(`ALTER TABLE usage_roll_ups DROP PRIMARY KEY, ADD PRIMARY KEY (${key})`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await copyTable(runner, { hasFacts: false });
    for (const index of ["usage_records_tool", "usage_records_reason"])
      await runner.query(`DROP INDEX ${index}${isSqlite(runner) ? "" : " ON usage_records"}`);
  }
}

const isSqlite = (runner: QueryRunner) => runner.connection.options.type === "better-sqlite3";

const keyColumns = ["resolution", "starts_at", "api_key_id", "owner_id", "model", "provider", "status"];
const addedKeyColumns = ["client_tool", "error_reason"] as const;
const lengths = { client_tool: 32, error_reason: 64 };
const sumColumns = [
  "requests",
  "unknown_costs",
  ...Array.from({ length: 10 }, (_, index) => `latency${index}`),
];
const bigSumColumns = [
  "input_tokens",
  "output_tokens",
  "cached_input_tokens",
  "cache_write_input_tokens",
  "reasoning_tokens",
  "cost",
  "latency_ms",
];
const firstTokenColumns = Array.from({ length: 10 }, (_, index) => `first_token${index}`);

/**
 * SQLite cannot change a primary key, so the table is copied. `down` merges the rows that the old key does not
 * distinguish.
 */
async function copyTable(runner: QueryRunner, { hasFacts }: { hasFacts: boolean }): Promise<void> {
  const { id, text, moment, integer, bigInteger } = columnKit(runner.connection.options.type);
  const indices = [
    { name: "usage_roll_ups_key", columnNames: ["api_key_id", "resolution", "starts_at"] },
    { name: "usage_roll_ups_owner", columnNames: ["owner_id", "resolution", "starts_at"] },
  ];
  const table = new Table({
    name: "usage_roll_ups_copy",
    withoutRowid: isSqlite(runner),
    columns: [
      id("resolution", 8),
      moment("starts_at", { isPrimary: true }),
      id("api_key_id"),
      id("owner_id"),
      id("model", 255),
      id("provider", 63),
      id("status", 16),
      ...(hasFacts
        ? addedKeyColumns.map((name) => ({ ...id(name, lengths[name]), default: "'unknown'" }))
        : []),
      text("api_key_name", 255),
      ...sumColumns.map((name) => integer(name)),
      ...bigSumColumns.map((name) => bigInteger(name)),
      ...(hasFacts ? firstTokenColumns.map((name) => integer(name, { default: 0 })) : []),
    ],
  });
  await runner.query("DROP TABLE IF EXISTS usage_roll_ups_copy");
  await runner.createTable(table);
  const groups = keyColumns.join(", ");
  const sums = [...sumColumns, ...bigSumColumns];
  await runner.query(
    `INSERT INTO usage_roll_ups_copy (${groups}, api_key_name, ${sums.join(", ")}) SELECT ${groups}, MAX(api_key_name), ${sums.map((name) => `SUM(${name})`).join(", ")} FROM usage_roll_ups GROUP BY ${groups}`,
  );
  await runner.query("DROP TABLE usage_roll_ups");
  await runner.query("ALTER TABLE usage_roll_ups_copy RENAME TO usage_roll_ups");
  for (const { name, columnNames } of indices)
    await runner.query(`CREATE INDEX ${name} ON usage_roll_ups (${columnNames.join(", ")})`);
}
