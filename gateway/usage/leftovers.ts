import { rm, unlink } from "node:fs/promises";
import type { Log } from "../log.ts";
import type { Shipper } from "./shipper.ts";
import { type LockFile, SpoolFolder } from "./spool-folder.ts";

type LeftoversOptions = {
  /** Where every process has its folder. */
  root: string;
  lockFile: LockFile;
  shipper: Shipper;
  log: Log;
  adoptIntervalMs: number;
};

/** Ships what dead processes have left: at the start, and for as long as others may die. */
export class Leftovers {
  readonly #options: LeftoversOptions;
  readonly #timer: NodeJS.Timeout;
  #adopting: Promise<void> | null = null;
  #isClosing = false;

  constructor(options: LeftoversOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.adopt(), options.adoptIntervalMs).unref();
  }

  /** Resolves when nothing is left, or the database did not take it. */
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
    try {
      for await (const folder of SpoolFolder.takeLeftovers(root, lockFile)) {
        const isDone = await this.#shipFolder(folder).finally(() => folder.leave());
        if (!isDone) return;
      }
    } catch (error) {
      log.error({ error }, "cannot read usage records that another process has left");
    }
  }

  async #shipFolder(folder: SpoolFolder): Promise<boolean> {
    const { shipper, log } = this.#options;
    for (const path of await folder.segmentPaths()) {
      if (this.#isClosing || !(await shipper.shipSegment({ path, waiting: null }))) return false;
      await unlink(path);
    }
    // After the records of those that have ended.
    const started = await folder.readStarted();
    if (!(await shipper.ship(started))) return false;
    await rm(folder.startedPath, { force: true });
    log.info({ folder: folder.path }, "usage records of a process that has died were taken over");
    return true;
  }
}
