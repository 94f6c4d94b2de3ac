import Sqlite from "better-sqlite3";
import type { RowDataPacket } from "mysql2/promise";
import { hangMs } from "./eventually.ts";

export async function queryDatabase(url: string, sql: string): Promise<Record<string, unknown>[]> {
  return url.startsWith("sqlite:") ? querySqlite(url.slice("sqlite:".length), sql) : queryMysql(url, sql);
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
