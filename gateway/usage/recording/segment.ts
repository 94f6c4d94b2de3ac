import { closeSync, fdatasync, ftruncateSync, openSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import type { UsageRecordRow } from "../../../db/entities/usage-record.ts";

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

export type UsageRecord = UsageRecordRow;

/**
 * Writes a record into the buffer: the length of its JSON and a checksum, 32 bits each, then the JSON.
 * The checksum is the CRC32 that Node has; that of Castagnoli (CRC32C) finds torn writes no better, and would have to be
 * computed in JavaScript.
 * @returns how many bytes it takes; 0 when the buffer has too few behind `at`
 */
export function encodeRecord(buffer: Buffer, record: UsageRecord, at = 0): number {
  // A number, because a date takes as long to write as all the rest.
  const text = JSON.stringify({ ...record, createdAt: record.createdAt.getTime() });
  // A character of JavaScript's takes three bytes at most.
  const room = buffer.length - headBytes - at;
  if (text.length * 3 > room && Buffer.byteLength(text) > room) return 0;
  const length = buffer.write(text, at + headBytes, "utf8");
  buffer.writeUInt32LE(length, at);
  buffer.writeUInt32LE(crc32(text), at + 4);
  return headBytes + length;
}

/** The records one after another, up to the first that is not whole: what a crash tore is at the end. */
export function decodeRecords(bytes: Buffer): { records: UsageRecord[]; tornBytes: number } {
  const records: UsageRecord[] = [];
  let at = 0;
  for (let record = decodeRecord(bytes, at); record; record = decodeRecord(bytes, at)) {
    records.push(record);
    at += headBytes + bytes.readUInt32LE(at);
  }
  return { records, tornBytes: bytes.length - at };
}

/** The record that begins there, or null where no whole one does. */
export function decodeRecord(bytes: Buffer, at: number): UsageRecord | null {
  if (at + headBytes > bytes.length) return null;
  const start = at + headBytes;
  const end = start + bytes.readUInt32LE(at);
  if (end === start || end > bytes.length) return null;
  if (crc32(bytes.subarray(start, end)) !== bytes.readUInt32LE(at + 4)) return null;
  const record = JSON.parse(bytes.toString("utf8", start, end)) as UsageRecord;
  const { limitedBy = null, errorReason = null } = record;
  // The release before knew nothing of whose limit it was or why, and may have left records behind.
  return { ...record, createdAt: new Date(record.createdAt), limitedBy, errorReason };
}

const headBytes = 8;
