import { closeSync, fdatasync, ftruncateSync, openSync, writeSync } from "node:fs";
import { encodeRecord, type UsageRecord } from "./record-format.ts";

/** A file of records that are waiting for the database. */
export type WaitingSegment = {
  path: string;
  bytes: number;
  /** What is in it, as long as that is kept in memory. */
  records: UsageRecord[] | null;
};

/** The segment that is being written. */
export class Segment implements WaitingSegment {
  readonly path: string;
  bytes = 0;
  readonly records: UsageRecord[] = [];
  readonly #file: number;
  readonly #buffer: Buffer;
  readonly #isSynced: boolean;
  #syncedBytes = 0;
  #isSyncing = false;
  #isSealed = false;

  /**
   * @param buffer where records are put together; all segments of a process can share one
   * @param isSynced whether it is also brought to the disk itself, a moment later, so that a power cut does not lose it
   */
  constructor(path: string, buffer: Buffer, isSynced: boolean) {
    this.path = path;
    this.#buffer = buffer;
    this.#isSynced = isSynced;
    this.#file = openSync(path, "wx", 0o600);
  }

  /**
   * Writes at once, which costs some 2 µs: from then on the record survives the process. Throws, and leaves the segment as
   * it was or unfit for more, when the disk does not take it.
   */
  append(record: UsageRecord): void {
    const length = encodeRecord(this.#buffer, record);
    if (length === 0) throw new Error("A usage record is larger than any can be.");
    // A disk that is nearly full takes a part.
    for (let written = 0; written < length;) {
      written += writeSync(this.#file, this.#buffer, written, length - written, this.bytes + written);
    }
    this.bytes += length;
    this.records.push(record);
    if (this.#isSynced && !this.#isSyncing) this.#sync();
  }

  /** Takes back what an `append` that failed may have left. */
  undo(): void {
    ftruncateSync(this.#file, this.bytes);
  }

  /** There will be no more. */
  seal(): void {
    this.#isSealed = true;
    if (!this.#isSyncing) closeSync(this.#file);
  }

  /** One call for all that has been appended until it begins; while it runs, the next ones gather. */
  #sync(): void {
    this.#isSyncing = true;
    const { bytes } = this;
    fdatasync(this.#file, () => {
      this.#isSyncing = false;
      this.#syncedBytes = bytes;
      if (this.#syncedBytes < this.bytes) this.#sync();
      else if (this.#isSealed) closeSync(this.#file);
    });
  }
}
