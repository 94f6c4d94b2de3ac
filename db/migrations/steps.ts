import { type QueryRunner, Table, type TableOptions } from "typeorm";

/**
 * The changes of a migration, each made unless it is there already: where a migration breaks off, because its process was
 * killed, say, SQLite undoes it, but MySQL keeps each change as soon as it is made, and the next start has to go on from
 * there. What is there is read once.
 */
export async function stepKit(runner: QueryRunner) {
  const columns = await keptNames(runner, "columns", "column_name");
  const indexes = await keptNames(runner, "statistics", "index_name");
  return {
    /** A table of somebody else's with the name is left to the database to refuse: ours has exactly these columns. */
    createTable: async (options: TableOptions): Promise<void> => {
      const table = new Table(options);
      const wanted = table.columns.map(({ name }) => name).toSorted();
      if (wanted.join() === [...(columns.get(table.name) ?? [])].toSorted().join()) return;
      await runner.createTable(table);
    },

    /** As SQL: TypeORM would copy the whole table on SQLite, and usage records can be many. */
    addColumn: async (table: string, column: string, definition: string): Promise<void> => {
      if (columns.get(table)?.has(column)) return;
      await runner.query(`ALTER TABLE ${table} ADD COLUMN ${column} ${definition}`);
    },

    createIndex: async (index: string, table: string, indexed: string): Promise<void> => {
      if (indexes.get(table)?.has(index)) return;
      await runner.query(`CREATE INDEX ${index} ON ${table} (${indexed})`);
    },
  };
}

/** By table; none on SQLite, which keeps nothing of a migration that broke off. */
async function keptNames(
  runner: QueryRunner,
  view: "columns" | "statistics",
  column: "column_name" | "index_name",
): Promise<Map<string, Set<string>>> {
  const kept = new Map<string, Set<string>>();
  if (runner.connection.options.type === "better-sqlite3") return kept;
  const rows: { tableName: string; name: string }[] = await runner.query(
    `SELECT table_name AS tableName, ${column} AS name FROM information_schema.${view} WHERE table_schema = DATABASE()`,
  );
  for (const { tableName, name } of rows) kept.set(tableName, (kept.get(tableName) ?? new Set()).add(name));
  return kept;
}
