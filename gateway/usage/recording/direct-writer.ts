import type { PendingRecord } from "./started-requests.ts";
import type { UsageRecord } from "./segment.ts";
import type { Shipper } from "./shipper.ts";

type DirectWriterOptions = {
  shipper: Shipper;
  appendToSpool: (records: readonly UsageRecord[]) => boolean;
  /** The records of these are safe. */
  onSafe: (pending: readonly PendingRecord[]) => void;
};

/**
 * Where records go while the disk is full: to the database at once, with the answers' ends waiting for it. While neither
 * takes them they are kept in memory; no new request is let in then, so they are no more than those that were under way.
 */
export class DirectWriter {
  readonly #options: DirectWriterOptions;
  #waiting: PendingRecord[] = [];
  #writing: Promise<void> | null = null;

  constructor(options: DirectWriterOptions) {
    this.#options = options;
  }

  /** Whether there are records that nothing takes. */
  get isStuck(): boolean {
    return this.#waiting.some(({ hasProceeded }) => hasProceeded);
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** What the disk did not take. */
  write(pending: readonly PendingRecord[]): void {
    this.#waiting.push(...pending);
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
    const { shipper, appendToSpool, onSafe } = this.#options;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice();
      const left = batch.map(({ record }) => record);
      // There may be room on the disk again.
      const isSafe = (await shipper.ship(left)) || appendToSpool(left);
      const safe = isSafe ? batch : batch.slice(0, batch.length - left.length);
      this.#waiting = this.#waiting.slice(safe.length);
      // An answer that has been paid for is not held back for longer than this.
      for (const each of batch) each.proceed();
      onSafe(safe);
      if (!isSafe) return;
    }
  }
}
