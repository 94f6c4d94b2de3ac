import type { MigrationInterface, QueryRunner } from "typeorm";
import { columnKit, nullable, references } from "./columns.ts";
import { stepKit } from "./steps.ts";

export class PeopleAndAudit implements MigrationInterface {
  readonly name = "PeopleAndAudit1763856000000";

  async up(runner: QueryRunner): Promise<void> {
    const { id, text, moment, integer, json } = columnKit(runner.connection.options.type);
    const { createTable, addColumn } = await stepKit(runner);
    await createTable({
      name: "invitations",
      columns: [
        id("token_hash", 64),
        text("user_id", 40),
        text("kind", 16),
        moment("expires_at"),
        moment("created_at"),
      ],
      indices: [{ name: "invitations_user", columnNames: ["user_id"], isUnique: true }],
      foreignKeys: [references("user_id", "users", "CASCADE")],
    });
    await createTable({
      name: "audit_entries",
      columns: [
        id(),
        moment("created_at"),
        text("actor_id", 40, nullable),
        text("actor_name", 255, nullable),
        text("action", 48),
        text("entity_id", 40),
        text("entity_name", 255),
        json("details"),
        text("address", 64),
      ],
      indices: [
        { name: "audit_entries_actor", columnNames: ["actor_id", "id"] },
        { name: "audit_entries_action", columnNames: ["action", "id"] },
        { name: "audit_entries_entity", columnNames: ["entity_id", "id"] },
      ],
    });
    const integerType = integer("").type;
    await addColumn("users", "last_sign_in_at", "datetime(3) NULL");
    for (const table of ["api_keys", "models", "providers"]) {
      await addColumn(table, "revision", `${integerType} NOT NULL DEFAULT 1`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ["providers", "models", "api_keys"]) {
      await runner.query(`ALTER TABLE ${table} DROP COLUMN revision`);
    }
    await runner.query("ALTER TABLE users DROP COLUMN last_sign_in_at");
    await runner.dropTable("audit_entries");
    await runner.dropTable("invitations");
  }
}
