import type { MigrationInterface, QueryRunner } from "typeorm";
import { stepKit } from "./steps.ts";

/** Keys of disabled people stop. Those of people who were disabled before keep working. */
export class KeepKeys implements MigrationInterface {
  readonly name = "KeepKeys1795996800000";

  async up(runner: QueryRunner): Promise<void> {
    const { addColumn } = await stepKit(runner);
    const type = runner.connection.options.type === "better-sqlite3" ? "boolean" : "tinyint";
    await addColumn("users", "keep_keys", `${type} NOT NULL DEFAULT 0`);
    await runner.query("UPDATE users SET keep_keys = 1 WHERE status = 'disabled'");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("ALTER TABLE users DROP COLUMN keep_keys");
  }
}
