import type { ExecutionContext } from "ava";
import Sqlite from "better-sqlite3";

/** Locks the database as a forgotten `sqlite3` shell does. */
export function lockSqlite(t: ExecutionContext, url: string): Sqlite.Database {
  const other = new Sqlite(url.slice("sqlite:".length));
  t.teardown(() => other.close());
  other.exec("BEGIN EXCLUSIVE");
  return other;
}
