import type { MigrationInterface, QueryRunner } from "typeorm";
import { columnKit } from "./columns.ts";
import { stepKit } from "./steps.ts";

export class DataKeys implements MigrationInterface {
  readonly name = "DataKeys1764115200000";

  async up(runner: QueryRunner): Promise<void> {
    const { id, text, longText, integer, moment } = columnKit(runner.connection.options.type);
    const { createTable } = await stepKit(runner);
    await createTable({
      name: "data_keys",
      columns: [id(), integer("number"), longText("wrapped"), text("kms_key_id", 2048), moment("created_at")],
      indices: [{ name: "data_keys_number", columnNames: ["number"], isUnique: true }],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable("data_keys");
  }
}
