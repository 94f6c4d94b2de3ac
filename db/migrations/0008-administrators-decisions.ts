import type { MigrationInterface, QueryRunner } from "typeorm";
import { columnKit, references } from "./columns.ts";
import { stepKit } from "./steps.ts";

export class AdministratorsDecisions implements MigrationInterface {
  readonly name = "AdministratorsDecisions1764460800000";

  async up(runner: QueryRunner): Promise<void> {
    const { id } = columnKit(runner.connection.options.type);
    const { createTable, addColumn } = await stepKit(runner);
    await addColumn("api_keys", "disabled_by", "varchar(16) NULL");
    await createTable({
      name: "api_key_withheld_models",
      columns: [id("api_key_id"), id("model_slug", 255)],
      foreignKeys: [references("api_key_id", "api_keys", "CASCADE")],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable("api_key_withheld_models");
    await runner.query("ALTER TABLE api_keys DROP COLUMN disabled_by");
  }
}
