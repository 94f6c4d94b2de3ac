import Sqlite from "better-sqlite3";

/**
 * Takes a file for as long as the result is kept, creating it if need be; null when somebody else has it. The system lets go
 * of it when the process dies, however that happens, so it also holds where process ids repeat, as in containers.
 *
 * Node has no such lock, but SQLite has, as an empty database in a transaction that is never committed. It is an advisory
 * lock of POSIX: also for containers that share a folder, and over NFS from version 4 on. Nothing is ever written.
 */
export function lockFile(path: string): FileLock | null {
  const holder = new Sqlite(path, { timeout: 0 });
  try {
    // Otherwise there would be a journal beside it.
    holder.pragma("journal_mode = MEMORY");
    holder.exec("BEGIN EXCLUSIVE");
    return { release: () => void holder.close() };
  } catch (error) {
    holder.close();
    if (error instanceof Sqlite.SqliteError && error.code.startsWith("SQLITE_BUSY")) return null;
    throw error;
  }
}

export type FileLock = { release(): void };
