import type { Database, Repositories } from "../../db/database.ts";
import type { ChangeKind } from "../../db/entities/change.ts";
import type { Changes } from "../audit/changes.ts";
import type { Runtime } from "../runtime.ts";

export type ChangeListener = {
  changed(kind: ChangeKind, entityId: string): Promise<void>;
  /** Runs when the feed may lack changes, for example after a restore of the database. */
  everythingChanged(): Promise<void>;
};

type ChangeFeedOptions = { database: Database; runtime: Runtime; pollIntervalMs: number };

/** Polls the database for changes by all processes, and reports them to one listener. */
export class ChangeFeed implements Changes {
  readonly #options: ChangeFeedOptions;
  #listener: ChangeListener | null = null;
  #lastNumber = 0;
  #polling: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #isFailing = false;
  #nextPruneAt = 0;
  #knewAllAt = performance.now();

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
  }

  get staleMs(): number {
    return performance.now() - this.#knewAllAt;
  }

  /** Reports only later changes, so the caller must load its data afterwards. */
  async start(listener: ChangeListener): Promise<void> {
    this.#lastNumber = await this.#options.database.read(({ changes }) => changes.latestNumber());
    this.#listener = listener;
    this.#schedule();
  }

  /** Handles every change that was committed before the call. */
  poll(): Promise<void> {
    // A running poll may miss the latest changes, so a new poll follows it.
    const poll = this.#polling.then(() => this.#readChanges());
    this.#polling = poll.catch(() => {});
    return poll;
  }

  async edit<Result>(
    kind: ChangeKind,
    work: (repositories: Repositories) => Promise<[ids: string | readonly string[] | undefined, Result]>,
  ): Promise<Result> {
    const { database, runtime } = this.#options;
    const result = await database.write(async (repositories) => {
      const [ids = [], edited] = await work(repositories);
      for (const id of [ids].flat()) await repositories.changes.append(kind, id, new Date(runtime.now()));
      return edited;
    });
    try {
      await this.poll();
    } catch (error) {
      // The change is already committed.
      this.#warn(error);
    }
    return result;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#polling;
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(async () => {
      try {
        await this.poll();
        this.#isFailing = false;
      } catch (error) {
        // Only the first of consecutive failures is logged, because polls are frequent.
        if (!this.#isFailing) this.#warn(error);
        this.#isFailing = true;
      }
      this.#schedule();
    }, this.#options.pollIntervalMs);
  }

  #warn(error: unknown): void {
    this.#options.runtime.log.warn({ error }, "cannot read changes from the database");
  }

  async #readChanges(): Promise<void> {
    const listener = this.#listener;
    if (listener === null) return;
    const { database } = this.#options;
    const readAt = performance.now();
    const latest = await database.read(({ changes }) => changes.latestNumber());
    if (latest < this.#lastNumber) {
      // The database was restored to an earlier state.
      await listener.everythingChanged();
      this.#lastNumber = latest;
    }
    while (this.#lastNumber < latest) {
      const rows = await database.read(({ changes }) => changes.after(this.#lastNumber, rowsPerPoll));
      if (rows[0]?.number !== this.#lastNumber + 1) {
        await listener.everythingChanged();
        this.#lastNumber = rows.at(-1)?.number ?? latest;
        continue;
      }
      for (const row of rows) {
        await listener.changed(row.kind, row.entityId);
        this.#lastNumber = row.number;
      }
    }
    this.#knewAllAt = readAt;
    await this.#prune();
  }

  async #prune(): Promise<void> {
    const { database, runtime } = this.#options;
    const at = runtime.monotonicNow();
    if (at < this.#nextPruneAt) return;
    this.#nextPruneAt = at + pruneIntervalMs;
    await database.write(({ changes }) => changes.deleteBefore(new Date(runtime.now() - keptMs)));
  }
}

const rowsPerPoll = 500;
const pruneIntervalMs = 10 * 60_000;
const keptMs = 60 * 60_000;
