import Sqlite from "better-sqlite3";
import type { RowDataPacket } from "mysql2/promise";

/** Returns all rows of all tables as JSON lines, so that tests can search for secrets. */
export async function dumpDatabase(url: string): Promise<string> {
  const rows = url.startsWith("sqlite:") ? dumpSqlite(url.slice("sqlite:".length)) : await dumpMysql(url);
  return rows.map((row) => JSON.stringify(row)).join("\n");
}

function dumpSqlite(path: string): unknown[] {
  const database = new Sqlite(path, { readonly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();
    return tables.flatMap((table) => database.prepare(`SELECT * FROM "${String(table)}"`).all());
  } finally {
    database.close();
  }
}

async function dumpMysql(url: string): Promise<unknown[]> {
  const { createConnection } = await import("mysql2/promise");
  const connection = await createConnection({ uri: url, connectTimeout: 120_000 });
  try {
    const [tables] = await connection.query<RowDataPacket[]>("SHOW TABLES");
    const rows: unknown[] = [];
    for (const table of tables) {
      const [found] = await connection.query<RowDataPacket[]>("SELECT * FROM ??", Object.values(table));
      rows.push(...found);
    }
    return rows;
  } finally {
    await connection.end();
  }
}
