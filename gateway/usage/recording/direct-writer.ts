import type { PendingRecord } from "./started-requests.ts";
import type { UsageRecord } from "./spool.ts";
import type { Shipper } from "./shipper.ts";

type DirectWriterOptions = {
  shipper: Shipper;
  appendToSpool: (records: readonly UsageRecord[]) => boolean;
  /** Called when these records are safe. */
  onSafe: (pending: readonly PendingRecord[]) => void;
};

/**
 * Writes records to the database directly while the disk is full, before the answers end. Records that neither accepts
 * stay in memory. No new request is admitted then, so at most the running ones wait.
 */
export class DirectWriter {
  readonly #options: DirectWriterOptions;
  /** Whether records are waiting that neither accepts. */
  isStuck = false;
  #waiting: PendingRecord[] = [];
  #writing: Promise<void> | null = null;

  constructor(options: DirectWriterOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Queues records that the disk refused. */
  write(pending: readonly PendingRecord[]): void {
    this.#waiting.push(...pending);
    void this.flush();
  }

  /** Resolves when all are safe, or when neither the disk nor the database accepted them. */
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
      // The disk may have room again.
      const isSafe = (await shipper.ship(left)) || appendToSpool(left);
      const safe = isSafe ? batch : batch.slice(0, batch.length - left.length);
      this.#waiting = this.#waiting.slice(safe.length);
      // A paid answer is not delayed longer than this.
      for (const each of batch) each.proceed();
      this.isStuck = !isSafe;
      onSafe(safe);
      if (!isSafe) return;
    }
  }
}
