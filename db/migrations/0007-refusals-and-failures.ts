import type { MigrationInterface, QueryRunner } from "typeorm";
import { stepKit } from "./steps.ts";

export class RefusalsAndFailures implements MigrationInterface {
  readonly name = "RefusalsAndFailures1764374400000";

  async up(runner: QueryRunner): Promise<void> {
    const { addColumn } = await stepKit(runner);
    // SQLite and MySQL add a last column instantly, MySQL even to a partitioned table.
    await addColumn("usage_records", "limited_by", "varchar(16) NULL");
    await addColumn("usage_records", "error_reason", "varchar(32) NULL");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("ALTER TABLE usage_records DROP COLUMN error_reason");
    await runner.query("ALTER TABLE usage_records DROP COLUMN limited_by");
  }
}
