import { existsSync, mkdirSync } from "node:fs";
import { readdir, readFile, rm, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { segmentSuffix } from "./spool.ts";
import { decodeStarted } from "./started-requests.ts";
import type { UsageRecord } from "./segment.ts";

/** Takes a file for this process until it is released or the process dies; null when somebody else has it. */
export type LockFile = (path: string) => { release(): void } | null;

/** Is told of what is wrong with the folder at a path. */
export type ReportLeftover = (path: string, error: unknown) => void;

/**
 * A folder of one process in `DATA_DIR/spool`, beside the lock that says whose it is: `<name>/` and `<name>.lock`. The
 * lock is there before the folder and goes after it, so a folder without one does not occur.
 */
export class SpoolFolder {
  readonly path: string;
  readonly #lockPath: string;
  readonly #lock: { release(): void };

  private constructor(root: string, name: string, lock: { release(): void }) {
    this.path = join(root, name);
    this.#lockPath = join(root, `${name}${lockSuffix}`);
    this.#lock = lock;
  }

  /** A new one, for this process. `createName` never gives the same name twice. */
  static create(root: string, lockFile: LockFile, createName: () => string): SpoolFolder {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    for (;;) {
      const folder = SpoolFolder.#take(root, createName(), lockFile);
      // Somebody may have looked into the lock of nobody while it was being taken.
      if (folder) return folder;
    }
  }

  /** Those whose processes have died, for this process to see to. One that cannot be taken is reported, and left out. */
  static async *takeLeftovers(
    root: string,
    lockFile: LockFile,
    report: ReportLeftover,
  ): AsyncGenerator<SpoolFolder> {
    for (const file of (await readdir(root)).toSorted()) {
      if (!file.endsWith(lockSuffix)) continue;
      const name = file.slice(0, -lockSuffix.length);
      let folder: SpoolFolder | null = null;
      try {
        folder = SpoolFolder.#take(root, name, lockFile);
      } catch (error) {
        report(join(root, name), error);
      }
      if (folder) yield folder;
    }
  }

  static #take(root: string, name: string, lockFile: LockFile): SpoolFolder | null {
    const lockPath = join(root, `${name}${lockSuffix}`);
    const lock = lockFile(lockPath);
    if (lock === null) return null;
    if (existsSync(lockPath)) return new SpoolFolder(root, name, lock);
    // Whoever had it before has removed it: what is locked now is no longer there for anybody else.
    lock.release();
    return null;
  }

  /** Where the requests under way are written. */
  get startedPath(): string {
    return join(this.path, "started");
  }

  /** The files of records, the oldest first. */
  async segmentPaths(): Promise<string[]> {
    const files = (await orNull(readdir(this.path))) ?? [];
    return files
      .filter((file) => file.endsWith(segmentSuffix))
      .toSorted()
      .map((file) => join(this.path, file));
  }

  /** The requests that were under way, unless there is a record of their end, with the time until the process was last seen. */
  async readStarted(): Promise<UsageRecord[]> {
    const bytes = await orNull(readFile(this.startedPath));
    if (bytes === null) return [];
    const { mtimeMs } = await stat(this.startedPath);
    return decodeStarted(bytes).map((record) => ({
      ...record,
      latencyMs: Math.max(0, Math.round(mtimeMs - record.createdAt.getTime())),
    }));
  }

  /** Lets go of it, and removes it if it is empty. */
  async leave(): Promise<void> {
    try {
      await orNull(rmdir(this.path));
      await rm(this.#lockPath, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
    } finally {
      this.#lock.release();
    }
  }
}

/** For what is not there. */
async function orNull<Result>(operation: Promise<Result>): Promise<Result | null> {
  try {
    return await operation;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

const lockSuffix = ".lock";
