import { type MigrationInterface, type QueryRunner } from "typeorm";
import { columnKit } from "./columns.ts";

/** What keys may use. */
export class KeyLimits implements MigrationInterface {
  readonly name = "KeyLimits1764288000000";

  async up(runner: QueryRunner): Promise<void> {
    const integerType = columnKit(runner.connection.options.type).integer("").type;
    // As SQL: TypeORM would copy whole tables on SQLite.
    for (const [column, type] of keyColumns(integerType)) {
      await runner.query(`ALTER TABLE api_keys ADD COLUMN ${column} ${type} NULL`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
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
