import type { MigrationInterface, QueryRunner, TableOptions } from "typeorm";
import { columnKit, references } from "./columns.ts";
import { stepKit } from "./steps.ts";

/** Teams, which pay for keys, and the team in the usage history. */
export class Teams implements MigrationInterface {
  readonly name = "Teams1795910400000";

  async up(runner: QueryRunner): Promise<void> {
    const { createTable, addColumn, createIndex } = await stepKit(runner);
    for (const table of newTables(runner.connection.options.type)) await createTable(table);
    for (const { table, definition, index, indexed } of teamColumns) {
      await addColumn(table, "team_id", definition);
      await createIndex(index, table, indexed);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    const isSqlite = runner.connection.options.type === "better-sqlite3";
    for (const { table, index } of teamColumns) {
      await runner.query(`DROP INDEX ${index}${isSqlite ? "" : ` ON ${table}`}`);
      await runner.query(`ALTER TABLE ${table} DROP COLUMN team_id`);
    }
    await runner.dropTable("team_members");
    await runner.dropTable("teams");
  }
}

const teamColumns = [
  { table: "api_keys", definition: "varchar(40)", index: "api_keys_team", indexed: "team_id" },
  { table: "usage_records", definition: "varchar(40)", index: "usage_records_team", indexed: "team_id, id" },
  {
    table: "usage_roll_ups",
    definition: "varchar(40) NOT NULL DEFAULT ''",
    index: "usage_roll_ups_team",
    indexed: "team_id, resolution, starts_at",
  },
];

function newTables(databaseType: string): TableOptions[] {
  const { id, text, moment } = columnKit(databaseType);
  return [
    {
      name: "teams",
      columns: [id(), text("name", 255), text("status", 16), moment("created_at")],
      indices: [{ name: "teams_name", columnNames: ["name"], isUnique: true }],
    },
    {
      name: "team_members",
      columns: [id("team_id"), id("user_id"), text("role", 16), moment("created_at")],
      indices: [{ name: "team_members_user", columnNames: ["user_id"] }],
      foreignKeys: [references("team_id", "teams", "CASCADE"), references("user_id", "users", "CASCADE")],
    },
  ];
}
