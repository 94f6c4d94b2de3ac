import Sqlite from "better-sqlite3";
import mysql from "mysql2/promise";

/** Asks the database behind a DATABASE_URL, past everything of ours. */
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
  const connection = await mysql.createConnection(url);
  try {
    const [rows] = await connection.query<mysql.RowDataPacket[]>(sql);
    return rows;
  } finally {
    await connection.end();
  }
}
