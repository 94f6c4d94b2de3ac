import Sqlite from "better-sqlite3";

/**
 * Locks a file, which is created if missing. Returns null if the file is already locked. Garbage collection of
 * the result releases the lock. See "File locks" in README.md.
 */
export function lockFile(path: string): FileLock | null {
  const holder = new Sqlite(path, { timeout: 0 });
  try {
    // On-disk journaling would create another file beside the lock file.
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
