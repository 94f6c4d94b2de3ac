import type { MigrationInterface, QueryRunner, TableOptions } from "typeorm";
import { columnKit, references } from "./columns.ts";
import { stepKit } from "./steps.ts";

/** The models that the keys of a team or a person may use, and how many keys a person may own. */
export class ModelAccess implements MigrationInterface {
  readonly name = "ModelAccess1796083200000";

  async up(runner: QueryRunner): Promise<void> {
    const { createTable, addColumn } = await stepKit(runner);
    const { type } = runner.connection.options;
    await createTable(allowedModels(type));
    await addColumn("limits", "model_access", "varchar(16)");
    await addColumn("limits", "keys_max", type === "better-sqlite3" ? "integer" : "int");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("ALTER TABLE limits DROP COLUMN keys_max");
    await runner.query("ALTER TABLE limits DROP COLUMN model_access");
    await runner.dropTable("allowed_models");
  }
}

function allowedModels(databaseType: string): TableOptions {
  const { id } = columnKit(databaseType);
  return {
    name: "allowed_models",
    columns: [id("holder"), id("model_id")],
    indices: [{ name: "allowed_models_model", columnNames: ["model_id"] }],
    foreignKeys: [references("model_id", "models", "CASCADE")],
  };
}
