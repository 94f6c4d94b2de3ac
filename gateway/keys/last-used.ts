import type { Database } from "../../db/database.ts";
import type { Log } from "../log.ts";

type LastUsedOptions = { database: Database; log: Log; flushIntervalMs?: number };

/** When each key was last used: kept in memory by every request, written periodically off the request path. */
export class LastUsed {
  readonly #database: Database;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #times = new Map<string, number>();
  #writing: Promise<void> = Promise.resolve();

  constructor({ database, log, flushIntervalMs = 2_000 }: LastUsedOptions) {
    this.#database = database;
    this.#log = log;
    this.#timer = setInterval(() => void this.flush(), flushIntervalMs).unref();
  }

  note(keyId: string, now: number): void {
    this.#times.set(keyId, now);
  }

  /** Writes the collected times. A failure only delays the shown time, so it is logged and ignored. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  async #write(): Promise<void> {
    if (this.#times.size === 0) return;
    const times = this.#times;
    this.#times = new Map();
    try {
      await this.#database.write(async ({ apiKeys }) => {
        for (const [id, time] of times) await apiKeys.update(id, { lastUsedAt: new Date(time) });
      });
    } catch (error) {
      this.#log.debug({ error }, "cannot store when keys were last used");
    }
  }
}
