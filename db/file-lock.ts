import Sqlite from "better-sqlite3";

/**
 * Locks a file, which is created if necessary, as long as the result is kept. Null when another process holds it. The
 * system releases it when the process dies, so it also works where process IDs repeat, as in containers. Node has no
 * such lock, but SQLite has: an empty database with a transaction that is never committed. It is a POSIX advisory lock,
 * valid across containers that share a folder and over NFS 4. Nothing is ever written.
 */
export function lockFile(path: string): FileLock | null {
  const holder = new Sqlite(path, { timeout: 0 });
  try {
    // On-disk journaling would create a file beside the lock.
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
