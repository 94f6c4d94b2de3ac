import { closeSync, fdatasync, ftruncateSync, openSync, writeSync } from "node:fs";
import { encodeRecord, type UsageRecord } from "./record-format.ts";

/** A file of records. What of it is not in the database yet is kept in memory, too, unless there is too much of it. */
export type Segment = { path: string; bytes: number; waiting: UsageRecord[] | null };

/** The segment that is being written. */
export class OpenSegment implements Segment {
  readonly path: string;
  readonly openedAt = performance.now();
  bytes = 0;
  waiting: UsageRecord[] = [];
  #count = 0;
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
   * Writes at once, all of them together where they fit: from then on the records survive the process. Throws when the
   * disk does not take them; `undo` says what then.
   */
  append(records: readonly UsageRecord[]): void {
    let end = this.bytes;
    let filled = 0;
    for (const record of records) {
      let length = encodeRecord(this.#buffer, record, filled);
      if (length === 0) {
        this.#write(filled, end);
        end += filled;
        filled = 0;
        length = encodeRecord(this.#buffer, record);
        if (length === 0) throw new Error("A usage record is larger than any can be.");
      }
      filled += length;
    }
    this.#write(filled, end);
    this.bytes = end + filled;
    this.#count += records.length;
    for (const record of records) this.waiting.push(record);
    if (this.#isSynced && !this.#isSyncing) this.#sync();
  }

  /** About how many of the bytes are not in the database yet. */
  get waitingBytes(): number {
    return this.#count === 0 ? 0 : (this.bytes / this.#count) * this.waiting.length;
  }

  /** Takes back what an `append` that failed may have left. Throws when it cannot; nothing may follow then. */
  undo(): void {
    ftruncateSync(this.#file, this.bytes);
  }

  /** There will be no more. */
  seal(): void {
    this.#isSealed = true;
    if (!this.#isSyncing) closeSync(this.#file);
  }

  /** The beginning of the buffer. */
  #write(length: number, position: number): void {
    // A disk that is nearly full takes a part.
    for (let written = 0; written < length;) {
      written += writeSync(this.#file, this.#buffer, written, length - written, position + written);
    }
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
