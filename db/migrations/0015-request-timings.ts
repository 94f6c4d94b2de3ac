import type { MigrationInterface, QueryRunner } from "typeorm";
import { stepKit } from "./steps.ts";

export class RequestTimings implements MigrationInterface {
  readonly name = "RequestTimings1764979200000";

  async up(runner: QueryRunner): Promise<void> {
    const { addColumn } = await stepKit(runner);
    await addColumn("usage_records", "timing", "json NULL");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("ALTER TABLE usage_records DROP COLUMN timing");
  }
}
