import { rm, unlink } from "node:fs/promises";
import type { Log } from "../../log.ts";
import type { Shipper } from "./shipper.ts";
import { type LockFile, type ReportLeftover, SpoolFolder } from "./spool-folder.ts";

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
