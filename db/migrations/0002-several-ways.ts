import type { MigrationInterface, QueryRunner } from "typeorm";
import { columnKit, references } from "./columns.ts";
import { stepKit } from "./steps.ts";

export class SeveralWays implements MigrationInterface {
  readonly name = "SeveralWays1763769600000";

  async up(runner: QueryRunner): Promise<void> {
    const { id, text, integer } = columnKit(runner.connection.options.type);
    const { createTable, addColumn } = await stepKit(runner);
    await createTable({
      name: "model_fallbacks",
      columns: [id("model_id"), integer("position", { isPrimary: true }), text("fallback_model_id", 40)],
      indices: [{ name: "model_fallbacks_model", columnNames: ["fallback_model_id"] }],
      foreignKeys: [
        references("model_id", "models", "CASCADE"),
        references("fallback_model_id", "models", "CASCADE"),
      ],
    });
    const integerType = integer("").type;
    await addColumn("providers", "preset", "varchar(32) NULL");
    await addColumn("credentials", "weight", `${integerType} NOT NULL DEFAULT 1`);
    await addColumn("usage_records", "credential_id", "varchar(40) NULL");
    await addColumn("usage_records", "attempts", `${integerType} NOT NULL DEFAULT 1`);
    await addColumn("usage_records", "cache_write_input_tokens", `${integerType} NULL`);
    await addColumn("usage_records", "client_tool", "varchar(32) NULL");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable("model_fallbacks");
    for (const [table, column] of [
      ["providers", "preset"],
      ["credentials", "weight"],
      ["usage_records", "credential_id"],
      ["usage_records", "attempts"],
      ["usage_records", "cache_write_input_tokens"],
      ["usage_records", "client_tool"],
    ]) {
      await runner.query(`ALTER TABLE ${table} DROP COLUMN ${column}`);
    }
  }
}
