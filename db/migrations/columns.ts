import type { TableColumnOptions, TableForeignKeyOptions } from "typeorm";

/** Independent of `entities/table.ts`, because changes to an entity must not change an old migration. */
export function columnKit(databaseType: string) {
  const isSqlite = databaseType === "better-sqlite3";
  const column =
    (type: string, more: Partial<TableColumnOptions> = {}) =>
    (name: string, options: Partial<TableColumnOptions> = {}): TableColumnOptions => ({
      name,
      type,
      ...more,
      ...options,
    });
  return {
    id: (name = "id", length = 40): TableColumnOptions => ({
      name,
      type: "varchar",
      length: `${length}`,
      isPrimary: true,
    }),
    text: (name: string, length: number, options: Partial<TableColumnOptions> = {}): TableColumnOptions => ({
      name,
      type: "varchar",
      length: `${length}`,
      ...options,
    }),
    longText: column("text"),
    moment: column("datetime", { precision: 3 }),
    integer: column(isSqlite ? "integer" : "int"),
    bigInteger: column("bigint"),
    flag: column(isSqlite ? "boolean" : "tinyint"),
    json: column("json"),
  };
}

export const nullable = { isNullable: true };

export function references(
  column: string,
  table: string,
  onDelete: "CASCADE" | "RESTRICT" | "SET NULL",
): TableForeignKeyOptions {
  return {
    columnNames: [column],
    referencedTableName: table,
    referencedColumnNames: ["id"],
    onDelete,
    onUpdate: "NO ACTION",
  };
}
