import { existsSync, mkdirSync } from "node:fs";
import { readdir, readFile, rm, rmdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { segmentSuffix, type UsageRecord, decodeStarted } from "./spool.ts";
import type { Log } from "../../log.ts";
import type { Shipper } from "./shipper.ts";

/** Locks a file until `release` or the end of the process. Null if the file is already locked. */
export type LockFile = (path: string) => { release(): void } | null;

type ReportLeftover = (path: string, error: unknown) => void;

/**
 * A process's folder in `DATA_DIR/spool`, and its lock: `<name>/` and `<name>.lock`. The lock is created
 * first and removed last, so every folder has one.
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

  /** Locks a new folder name for this process. `createName` must never repeat a name. */
  static create(root: string, lockFile: LockFile, createName: () => string): SpoolFolder {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    for (;;) {
      const folder = SpoolFolder.#claim(root, createName(), lockFile);
      // A process that looks for leftovers may have locked the name first.
      if (folder) return folder;
    }
  }

  /** Locks and yields the folders of dead processes. Reports each folder whose lock fails with an error. */
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
        folder = SpoolFolder.#claim(root, name, lockFile);
      } catch (error) {
        report(join(root, name), error);
      }
      if (folder) yield folder;
    }
  }

  static #claim(root: string, name: string, lockFile: LockFile): SpoolFolder | null {
    const lockPath = join(root, `${name}${lockSuffix}`);
    const lock = lockFile(lockPath);
    if (lock === null) return null;
    if (existsSync(lockPath)) return new SpoolFolder(root, name, lock);
    // The previous holder deleted the file, so this lock protects nothing.
    lock.release();
    return null;
  }

  get startedPath(): string {
    return join(this.path, "started");
  }

  /** The next process reads it like a segment, as the last one. */
  get reservePath(): string {
    return join(this.path, `reserve${segmentSuffix}`);
  }

  /** The oldest segment first. */
  async segmentPaths(): Promise<string[]> {
    const files = (await orNull(readdir(this.path))) ?? [];
    return files
      .filter((file) => file.endsWith(segmentSuffix))
      .toSorted()
      .map((file) => join(this.path, file));
  }

  /** The requests that were running when the process died, and perhaps some that had already ended. */
  async readStarted(): Promise<UsageRecord[]> {
    const bytes = await orNull(readFile(this.startedPath));
    if (bytes === null) return [];
    const { mtimeMs } = await stat(this.startedPath);
    return decodeStarted(bytes).map((record) => ({
      ...record,
      latencyMs: Math.max(0, Math.round(mtimeMs - record.createdAt.getTime())),
    }));
  }

  /** Releases the folder, and removes it if it is empty. */
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

async function orNull<Result>(operation: Promise<Result>): Promise<Result | null> {
  try {
    return await operation;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

const lockSuffix = ".lock";

type LeftoversOptions = {
  /** The parent of all processes' folders. */
  root: string;
  lockFile: LockFile;
  shipper: Shipper;
  log: Log;
  adoptIntervalMs: number;
};

/** Ships the records of dead processes periodically and on each call of `adopt`. */
export class Leftovers {
  readonly #options: LeftoversOptions;
  readonly #timer: NodeJS.Timeout;
  #adopting: Promise<void> | null = null;
  #failedBefore: ReadonlySet<string> = new Set();
  #isClosing = false;

  constructor(options: LeftoversOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.adopt(), options.adoptIntervalMs).unref();
  }

  /** Resolves when all readable records are shipped, a database write failed, or `close` stopped the work. */
  adopt(): Promise<void> {
    this.#adopting ??= this.#adoptAll().finally(() => {
      this.#adopting = null;
    });
    return this.#adopting;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#timer);
    await this.#adopting;
  }

  async #adoptAll(): Promise<void> {
    const { root, lockFile, log } = this.#options;
    const failed = new Set<string>();
    const report = (path: string, error: unknown) => {
      failed.add(path);
      if (!this.#failedBefore.has(path)) {
        log.error({ path, error }, "cannot read usage records of another process");
      }
    };
    const isOver = await this.#shipAll(SpoolFolder.takeLeftovers(root, lockFile, report), report).catch(
      (error: unknown) => report(root, error),
    );
    // If shipping ended early, the state of the remaining folders is unknown.
    this.#failedBefore = isOver ? failed : new Set([...this.#failedBefore, ...failed]);
  }

  /** Skips unreadable folders. Returns false if a database write fails or `close` stops the work. */
  async #shipAll(folders: AsyncIterable<SpoolFolder>, report: ReportLeftover): Promise<boolean> {
    for await (const folder of folders) {
      try {
        const isDone = await this.#shipFolder(folder).finally(() => folder.leave());
        if (!isDone) return false;
      } catch (error) {
        report(folder.path, error);
      }
    }
    return true;
  }

  async #shipFolder(folder: SpoolFolder): Promise<boolean> {
    const { shipper, log } = this.#options;
    for (const path of await folder.segmentPaths()) {
      if (this.#isClosing || !(await shipper.shipSegment({ path, waiting: null }))) return false;
      await unlink(path);
    }
    // Interrupted requests are shipped after finished ones, because the first record with an ID counts.
    const started = await folder.readStarted();
    if (!(await shipper.ship(started))) return false;
    await rm(folder.startedPath, { force: true });
    log.info({ folder: folder.path }, "recovered usage records of a dead process");
    return true;
  }
}
