import type { MigrationInterface, QueryRunner } from "typeorm";
import { stepKit } from "./steps.ts";

/**
 * With each usage record whose limit or budget refused the request, and more exactly than its code what refused it or how
 * its provider failed. Nobody knows it of those that are there already.
 */
export class RefusalsAndFailures implements MigrationInterface {
  readonly name = "RefusalsAndFailures1764374400000";

  async up(runner: QueryRunner): Promise<void> {
    const { addColumn } = await stepKit(runner);
    // At the table's end, where both databases add a column at once, MySQL to its partitions, too.
    await addColumn("usage_records", "limited_by", "varchar(16) NULL");
    await addColumn("usage_records", "error_reason", "varchar(32) NULL");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("ALTER TABLE usage_records DROP COLUMN error_reason");
    await runner.query("ALTER TABLE usage_records DROP COLUMN limited_by");
  }
}
