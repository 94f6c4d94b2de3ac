import type { UsageRecord } from "./record-format.ts";
import type { Shipper } from "./shipper.ts";

/** A record that the disk did not take. */
type Refused = {
  record: UsageRecord;
  /** What waits for the record to be safe; null once it no longer waits. */
  proceed: (() => void) | null;
  /** The record is safe. */
  onSafe: () => void;
};

type DirectWriterOptions = { shipper: Shipper; appendToSpool: (record: UsageRecord) => boolean };

/**
 * Where records go while the disk is full: to the database at once, with the answers' ends waiting for it. While neither
 * takes them they are kept in memory; no new request is let in then, so they are no more than those that were under way.
 */
export class DirectWriter {
  readonly #options: DirectWriterOptions;
  #waiting: Refused[] = [];
  #writing: Promise<void> | null = null;

  constructor(options: DirectWriterOptions) {
    this.#options = options;
  }

  /** Whether there are records that nothing takes. */
  get isStuck(): boolean {
    return this.#waiting.some(({ proceed }) => proceed === null);
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  write(record: UsageRecord, proceed: () => void, onSafe: () => void): void {
    this.#waiting.push({ record, proceed, onSafe });
    void this.flush();
  }

  /** Resolves when all are safe, or neither the disk nor the database took them. */
  flush(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice();
      const isSafe = await this.#writeBatch(batch.map(({ record }) => record));
      if (isSafe) this.#waiting = this.#waiting.slice(batch.length);
      for (const refused of batch) {
        // An answer that has been paid for is not held back for longer than this.
        refused.proceed?.();
        refused.proceed = null;
        if (isSafe) refused.onSafe();
      }
      if (!isSafe) return;
    }
  }

  async #writeBatch(records: UsageRecord[]): Promise<boolean> {
    const { shipper, appendToSpool } = this.#options;
    if (await shipper.ship(records)) return true;
    // There may be room on the disk again. Twice is harmless.
    return records.every(appendToSpool);
  }
}
