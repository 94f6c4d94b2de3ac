import { type MigrationInterface, type QueryRunner, Table } from "typeorm";
import { columnKit, nullable, references } from "./columns.ts";

/** Invitations, the audit log, and revisions, by which somebody who edits learns that somebody else did meanwhile. */
export class PeopleAndAudit implements MigrationInterface {
  readonly name = "PeopleAndAudit1763856000000";

  async up(runner: QueryRunner): Promise<void> {
    const { id, text, moment, integer, json } = columnKit(runner.connection.options.type);
    await runner.createTable(
      new Table({
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
      }),
    );
    await runner.createTable(
      new Table({
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
      }),
    );
    // As SQL: TypeORM would copy whole tables on SQLite.
    const integerType = integer("").type;
    for (const [table, column, definition] of [
      ["users", "last_sign_in_at", "datetime(3) NULL"],
      ["api_keys", "revision", `${integerType} NOT NULL DEFAULT 1`],
      ["models", "revision", `${integerType} NOT NULL DEFAULT 1`],
      ["providers", "revision", `${integerType} NOT NULL DEFAULT 1`],
    ]) {
      await runner.query(`ALTER TABLE ${table} ADD COLUMN ${column} ${definition}`);
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
