import { type QueryRunner, Table, type TableOptions } from "typeorm";

/**
 * Steps that skip what an interrupted migration completed. MySQL keeps the completed steps, and the next start
 * runs the migration again.
 */
export async function stepKit(runner: QueryRunner) {
  await compareBytes(runner);
  const columns = await keptNames(runner, "columns", "column_name");
  const indexes = await keptNames(runner, "statistics", "index_name");
  return {
    /**
     * Skips a table with exactly these columns, which an interrupted run created. The database rejects any other
     * table of this name.
     */
    createTable: async (options: TableOptions): Promise<void> => {
      const table = new Table(options);
      const wanted = table.columns.map(({ name }) => name).toSorted();
      if (wanted.join() === [...(columns.get(table.name) ?? [])].toSorted().join()) return;
      await runner.createTable(table);
    },

    /** Plain SQL, because TypeORM would copy the whole table on SQLite. */
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

/**
 * By default MySQL treats "AB" and "ab" as equal, which is wrong for IDs, slugs and hashes, also in a database that was
 * restored from a dump. The statement waits for all open transactions, so a repeated migration skips it.
 */
async function compareBytes(runner: QueryRunner): Promise<void> {
  if (runner.connection.options.type === "better-sqlite3") return;
  const [database] = await runner.query("SELECT @@collation_database AS collation");
  if (database.collation !== "utf8mb4_bin")
    await runner.query("ALTER DATABASE CHARACTER SET utf8mb4 COLLATE utf8mb4_bin");
}

/**
 * The names of existing columns or indexes, by table. Empty on SQLite, which rolls back an interrupted
 * migration.
 */
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
