import { closeSync, openSync, writeSync } from "node:fs";
import { decodeRecord, encodeRecord, type UsageRecord } from "./record-format.ts";

/**
 * The requests under way, in a file of slots: so that of those whose process dies it is known that they were. Each is
 * written to a free slot before its upstream is called. What is left in a slot after the request's end does no harm: its
 * own record is there by then, and the first with an id is the one that counts.
 */
export class StartedRequests {
  readonly #path: string;
  readonly #buffer = Buffer.allocUnsafeSlow(slotBytes);
  #file: number | null = null;
  /** The one that was let go last is taken first, so that most are used again instead of cleared. */
  readonly #free: number[] = [];
  readonly #ended = new Set<number>();
  #count = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * @param record as it is to be if nothing more is ever heard of the request
   * @param slot where it stands already, with what was known then
   * @returns its slot
   */
  write(record: UsageRecord, slot = this.#take()): number {
    try {
      this.#file ??= openSync(this.#path, "w", 0o600);
      const length = encodeRecord(this.#buffer, record);
      writeSync(this.#file, this.#buffer, 0, length, slot * slotBytes);
    } catch {
      // A disk that is full must not keep a request from being made.
    }
    return slot;
  }

  /** The request is over, and its record is safe. */
  end(slot: number): void {
    this.#free.push(slot);
    this.#ended.add(slot);
  }

  /** Forgets the requests that have ended: some day their records will be deleted, and they must not come back then. */
  clearEnded(): void {
    try {
      for (const slot of this.#ended) {
        if (this.#file !== null) writeSync(this.#file, nothing, 0, nothing.length, slot * slotBytes);
        this.#ended.delete(slot);
      }
    } catch {
      // Only a slot that the full disk never had cannot be cleared either.
      this.#ended.clear();
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  #take(): number {
    const slot = this.#free.pop() ?? this.#count++;
    this.#ended.delete(slot);
    return slot;
  }
}

/** What the file of a dead process tells. */
export function decodeStarted(bytes: Buffer): UsageRecord[] {
  const records: UsageRecord[] = [];
  for (let at = 0; at < bytes.length; at += slotBytes) {
    const record = decodeRecord(bytes.subarray(0, at + slotBytes), at);
    if (record) records.push(record);
  }
  return records;
}

/** What the file system gives at once, and more than any of these records takes. */
const slotBytes = 4096;
const nothing = Buffer.alloc(8);
