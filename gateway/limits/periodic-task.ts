import type { Log } from "../log.ts";

type PeriodicTaskOptions = {
  run: () => Promise<void>;
  intervalMs: number;
  log: Log;
  /** What is said, once, when it begins to fail. */
  failure: string;
};

/** Something that is done again and again, one at a time, for as long as the process lives. */
export class PeriodicTask {
  readonly #options: PeriodicTaskOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isFailing = false;
  #isClosed = false;

  constructor(options: PeriodicTaskOptions) {
    this.#options = options;
    this.#schedule();
  }

  /** Does it now. */
  run(): Promise<void> {
    this.#running = this.#running.then(() => this.#runOnce());
    return this.#running;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(async () => {
      await this.run();
      this.#schedule();
    }, this.#options.intervalMs).unref();
  }

  async #runOnce(): Promise<void> {
    const { run, log, failure } = this.#options;
    try {
      await run();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log.warn({ error }, failure);
      this.#isFailing = true;
    }
  }
}
