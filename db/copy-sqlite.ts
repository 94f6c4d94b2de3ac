import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import Sqlite from "better-sqlite3";

/**
 * Copies a consistent state of a SQLite database to a new private file, even while other processes write.
 * `complete` may change the copy before it gets its final name. Throws if `from` is missing or `to` exists.
 */
export async function copySqlite(
  from: string,
  to: string,
  complete: (copy: string) => Promise<void>,
): Promise<void> {
  const unfinished = `${to}.unfinished`;
  if (existsSync(to)) throw fileError("EEXIST", to);
  closeSync(openSync(unfinished, "wx", 0o600));
  try {
    vacuumInto(from, unfinished);
    await complete(unfinished);
    sync(unfinished);
    if (existsSync(to)) throw fileError("EEXIST", to);
    renameSync(unfinished, to);
    sync(path.dirname(path.resolve(to)));
  } finally {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${unfinished}${suffix}`, { force: true });
  }
}

/**
 * Copies in one read transaction. SQLite's online backup API restarts whenever another process writes, so it may
 * never finish.
 */
function vacuumInto(from: string, to: string): void {
  if (!existsSync(from)) throw fileError("ENOENT", from);
  const source = new Sqlite(from, { readonly: true, fileMustExist: true, timeout: 5_000 });
  try {
    source.prepare("VACUUM INTO ?").run(to);
  } finally {
    source.close();
  }
}

function sync(file: string): void {
  const descriptor = openSync(file, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function fileError(code: "EEXIST" | "ENOENT", file: string): Error {
  return Object.assign(new Error(`${code}: ${file}`), { code, path: file });
}
