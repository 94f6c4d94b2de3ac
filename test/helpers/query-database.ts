import Sqlite from "better-sqlite3";
import type { RowDataPacket } from "mysql2/promise";
import { hangMs } from "./eventually.ts";

export async function queryDatabase(url: string, sql: string): Promise<Record<string, unknown>[]> {
  return url.startsWith("sqlite:") ? querySqlite(url.slice("sqlite:".length), sql) : queryMysql(url, sql);
}

/** Returns all rows of all tables. */
export async function readTables(url: string): Promise<Map<string, Record<string, unknown>[]>> {
  const list = url.startsWith("sqlite:")
    ? "SELECT name AS name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    : "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY name";
  const tables = new Map<string, Record<string, unknown>[]>();
  for (const { name } of await queryDatabase(url, list)) {
    tables.set(String(name), await queryDatabase(url, `SELECT * FROM ${String(name)}`));
  }
  return tables;
}

function querySqlite(path: string, sql: string): Record<string, unknown>[] {
  const database = new Sqlite(path, { readonly: true });
  try {
    return database.prepare<[], Record<string, unknown>>(sql).all();
  } finally {
    database.close();
  }
}

async function queryMysql(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const { createConnection } = await import("mysql2/promise");
  const connection = await createConnection({ uri: url, connectTimeout: hangMs });
  try {
    const [rows] = await connection.query<RowDataPacket[]>(sql);
    return rows;
  } finally {
    await connection.end();
  }
}
