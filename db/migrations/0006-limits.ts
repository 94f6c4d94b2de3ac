import type { MigrationInterface, QueryRunner } from "typeorm";
import { columnKit, nullable } from "./columns.ts";
import { stepKit } from "./steps.ts";

export class KeyLimits implements MigrationInterface {
  readonly name = "KeyLimits1764288000000";

  async up(runner: QueryRunner): Promise<void> {
    const databaseType = runner.connection.options.type;
    const { id, text, integer, bigInteger, moment } = columnKit(databaseType);
    const { createTable, addColumn } = await stepKit(runner);
    for (const [column, type] of keyColumns(integer("").type)) {
      await addColumn("api_keys", column, `${type} NULL`);
    }
    await createTable({
      name: "limit_events",
      columns: [
        id("id", 64),
        text("api_key_id", 40),
        text("api_key_name", 255),
        text("owner_id", 40, nullable),
        text("period", 8),
        moment("period_starts_at"),
        integer("percent"),
        bigInteger("budget"),
        bigInteger("spent"),
        moment("created_at"),
        integer("attempts"),
        moment("send_at", nullable),
      ],
      indices: [
        { name: "limit_events_key", columnNames: ["api_key_id", "created_at"] },
        { name: "limit_events_send", columnNames: ["send_at"] },
      ],
    });
    await createTable({
      name: "limit_uses",
      columns: [
        id("process_id"),
        id("subject_id"),
        bigInteger("second", { isPrimary: true }),
        integer("requests"),
        bigInteger("tokens"),
      ],
      indices: [{ name: "limit_uses_second", columnNames: ["second"] }],
      withoutRowid: databaseType === "better-sqlite3",
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable("limit_uses");
    await runner.dropTable("limit_events");
    for (const [column] of keyColumns("")) {
      await runner.query(`ALTER TABLE api_keys DROP COLUMN ${column}`);
    }
  }
}

function keyColumns(integerType: string): [column: string, type: string][] {
  return [
    ["requests_per_minute", integerType],
    ["tokens_per_minute", integerType],
    ["concurrent_requests", integerType],
    ["day_budget", "bigint"],
    ["week_budget", "bigint"],
    ["month_budget", "bigint"],
    ["total_budget", "bigint"],
    ["address_ranges", "json"],
  ];
}
