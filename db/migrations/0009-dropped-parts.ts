import type { MigrationInterface, QueryRunner } from "typeorm";
import { stepKit } from "./steps.ts";

export class DroppedParts implements MigrationInterface {
  readonly name = "DroppedParts1764547200000";

  async up(runner: QueryRunner): Promise<void> {
    const { addColumn } = await stepKit(runner);
    await addColumn("usage_records", "dropped", "varchar(255) NULL");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("ALTER TABLE usage_records DROP COLUMN dropped");
  }
}
