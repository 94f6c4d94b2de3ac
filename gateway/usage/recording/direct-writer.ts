import type { PendingRecord } from "./started-requests.ts";
import type { UsageRecord } from "./spool.ts";
import type { Shipper } from "./shipper.ts";

type DirectWriterOptions = {
  shipper: Shipper;
  appendToSpool: (records: readonly UsageRecord[]) => boolean;
  /** Runs when these records are safe. */
  onSafe: (pending: readonly PendingRecord[]) => void;
};

/**
 * Writes records to the database directly while the disk is full, before the responses end. If the database
 * also fails, records stay in memory and new requests are rejected.
 */
export class DirectWriter {
  readonly #options: DirectWriterOptions;
  /** Whether both the disk and the database reject the waiting records. */
  isStuck = false;
  #waiting: PendingRecord[] = [];
  #writing: Promise<void> | null = null;

  constructor(options: DirectWriterOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Queues records that the disk rejected. */
  write(pending: readonly PendingRecord[]): void {
    this.#waiting.push(...pending);
    void this.flush();
  }

  /** Resolves when all records are safe, or when the disk and the database rejected them. */
  flush(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    const { shipper, appendToSpool, onSafe } = this.#options;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice();
      const left = batch.map(({ record }) => record);
      // The disk may have space again.
      const isSafe = (await shipper.ship(left)) || appendToSpool(left);
      const safe = isSafe ? batch : batch.slice(0, batch.length - left.length);
      this.#waiting = this.#waiting.slice(safe.length);
      // A paid response waits no longer than this.
      for (const each of batch) each.proceed();
      this.isStuck = !isSafe;
      onSafe(safe);
      if (!isSafe) return;
    }
  }
}
