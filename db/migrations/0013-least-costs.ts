import type { MigrationInterface, QueryRunner } from "typeorm";
import { stepKit } from "./steps.ts";

export class LeastCosts implements MigrationInterface {
  readonly name = "LeastCosts1764806400000";

  async up(runner: QueryRunner): Promise<void> {
    const { addColumn } = await stepKit(runner);
    await addColumn("usage_roll_ups", "least_cost", "bigint NOT NULL DEFAULT 0");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("ALTER TABLE usage_roll_ups DROP COLUMN least_cost");
  }
}
