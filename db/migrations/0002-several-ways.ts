import { type MigrationInterface, type QueryRunner, Table } from "typeorm";
import { columnKit, references } from "./columns.ts";

/** Models with fallbacks, providers with presets and weighted credentials, and records of which way was taken, and by which tool. */
export class SeveralWays implements MigrationInterface {
  readonly name = "SeveralWays1763769600000";

  async up(runner: QueryRunner): Promise<void> {
    const { id, text, integer } = columnKit(runner.connection.options.type);
    await runner.createTable(
      new Table({
        name: "model_fallbacks",
        columns: [id("model_id"), integer("position", { isPrimary: true }), text("fallback_model_id", 40)],
        indices: [{ name: "model_fallbacks_model", columnNames: ["fallback_model_id"] }],
        foreignKeys: [
          references("model_id", "models", "CASCADE"),
          references("fallback_model_id", "models", "CASCADE"),
        ],
      }),
    );
    // As SQL: TypeORM would copy whole tables on SQLite, and usage records can be many.
    const integerType = integer("").type;
    for (const [table, column, definition] of [
      ["providers", "preset", "varchar(32) NULL"],
      ["credentials", "weight", `${integerType} NOT NULL DEFAULT 1`],
      ["usage_records", "credential_id", "varchar(40) NULL"],
      ["usage_records", "attempts", `${integerType} NOT NULL DEFAULT 1`],
      ["usage_records", "cache_write_input_tokens", `${integerType} NULL`],
      ["usage_records", "client_tool", "varchar(32) NULL"],
    ]) {
      await runner.query(`ALTER TABLE ${table} ADD COLUMN ${column} ${definition}`);
    }
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
