import type { DataSource, EntityManager } from "typeorm";
import { FairQueue } from "./fair-queue.ts";
import { SideThread } from "./side-thread.ts";

type SideReadsOptions = { dataSource: DataSource; path: string; limits: { operationTimeoutMs: number } };

/** Reads SQLite in another thread, because its driver would block the one that relays streams. */
export class SideReads {
  readonly #dataSource: DataSource;
  readonly #timeoutMs: number;
  readonly #thread: SideThread;
  readonly #queue: FairQueue;

  constructor({ dataSource, path, limits }: SideReadsOptions) {
    this.#dataSource = dataSource;
    this.#timeoutMs = limits.operationTimeoutMs;
    this.#thread = new SideThread(path);
    this.#queue = new FairQueue({ waitingMax: questionsMax, perPersonMax: questionsPerPersonMax });
  }

  /** The time limit starts with the question's turn. It ends the thread, because a statement may hang. */
  async read<Result>(asker: string, work: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    return this.#queue.run(asker, async () => {
      // The class comes late, so that a gateway that nobody asks does not load it.
      const { SideQueryRunner } = await import("./side-query-runner.ts");
      const runner = new SideQueryRunner(this.#dataSource, this.#thread);
      const timer = setTimeout(() => this.#thread.stop(), this.#timeoutMs);
      try {
        // A time limit of the work must not include the start of the thread.
        await this.#thread.open();
        return await work(this.#dataSource.createEntityManager(runner));
      } finally {
        clearTimeout(timer);
      }
    });
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}

const questionsMax = 500;
const questionsPerPersonMax = 50;
