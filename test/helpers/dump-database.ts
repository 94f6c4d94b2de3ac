import { readTables } from "./query-database.ts";

/** Returns all rows of all tables as JSON lines, so that tests can search for secrets. */
export async function dumpDatabase(url: string): Promise<string> {
  const tables = await readTables(url);
  return Array.from(tables.values(), (rows) => rows.map((row) => JSON.stringify(row)))
    .flat()
    .join("\n");
}
