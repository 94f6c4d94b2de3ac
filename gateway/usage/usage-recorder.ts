import type { Database } from "../../db/database.ts";
import type { UsageRecordRow } from "../../db/entities/usage-record.ts";
import type { Log } from "../log.ts";

export type UsageRecord = UsageRecordRow;

type UsageRecorderOptions = {
  database: Database;
  log: Log;
  queueRecordsMax: number;
  batchRecordsMax: number;
  flushIntervalMs: number;
};

/**
 * Writes usage records in batches, off the request path. A batch that fails is sent again until it arrives; ids make that
 * harmless. While more wait than may, `isFull` says so and no new request is let in, so that none goes unrecorded.
 */
export class UsageRecorder {
  readonly #options: UsageRecorderOptions;
  readonly #timer: NodeJS.Timeout;
  #queue: UsageRecord[] = [];
  #writing: Promise<void> | null = null;
  #isFailing = false;

  constructor(options: UsageRecorderOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#writeNext(), options.flushIntervalMs).unref();
  }

  get isFull(): boolean {
    return this.#queue.length >= this.#options.queueRecordsMax;
  }

  record(record: UsageRecord): void {
    this.#queue.push(record);
    if (this.#queue.length >= this.#options.batchRecordsMax && !this.#isFailing) void this.#writeNext();
  }

  /** Resolves when everything recorded before the call is in the database, or a batch could not be written. */
  async flush(): Promise<void> {
    do await this.#writeNext();
    while (this.#queue.length > 0 && !this.#isFailing);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
    if (this.#queue.length > 0) {
      this.#options.log.error(
        { records: this.#queue.length },
        "usage records are lost: the database cannot be written",
      );
    }
  }

  #writeNext(): Promise<void> {
    this.#writing ??= this.#writeBatch().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#queue.slice(0, this.#options.batchRecordsMax);
    if (batch.length === 0) return;
    try {
      await this.#options.database.write(({ usageRecords }) => usageRecords.insertAll(batch));
      this.#queue = this.#queue.slice(batch.length);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing)
        this.#options.log.error({ error }, "cannot write usage records; they are kept and tried again");
      this.#isFailing = true;
    }
  }
}
