import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { encodeRecord, type UsageRecord } from "./spool.ts";

/**
 * Holds disk space for the records of answers in progress when the disk fills up. The space is allocated in
 * advance and records overwrite it, so nobody else can take it.
 */
export class Reserve {
  readonly #path: string;
  readonly #bytesMax: number;
  readonly #isSynced: boolean;
  #file: number | null = null;
  #bytes = 0;
  #tryAgainAt = 0;
  /** The records in the reserve. The writer removes them from the array, then calls `clear`. */
  readonly waiting: UsageRecord[] = [];

  constructor(path: string, { bytesMax, isSynced }: { bytesMax: number; isSynced: boolean }) {
    this.#path = path;
    this.#bytesMax = bytesMax;
    this.#isSynced = isSynced;
  }

  get isReady(): boolean {
    return this.#file !== null;
  }

  /** The approximate number of records that fit. */
  get recordsMax(): number {
    return this.#bytesMax / usualRecordBytes;
  }

  /** Allocates the space. Throws if that fails. After a failure, it tries again a second later at the earliest. */
  prepare(): void {
    if (this.#file !== null || performance.now() < this.#tryAgainAt) return;
    this.#tryAgainAt = performance.now() + tryAgainMs;
    const file = openSync(this.#path, "w", 0o600);
    try {
      writeAll(file, Buffer.alloc(this.#bytesMax), 0);
    } catch (error) {
      closeSync(file);
      rmSync(this.#path, { force: true });
      throw error;
    }
    this.#file = file;
  }

  /** Returns the number of records that are safe: the first ones. */
  append(records: readonly UsageRecord[]): number {
    const file = this.#file;
    if (file === null) return 0;
    const buffer = Buffer.allocUnsafe(recordBytesMax);
    const before = this.waiting.length;
    try {
      for (const record of records) {
        const length = encodeRecord(buffer, record);
        if (length === 0 || this.#bytes + length > this.#bytesMax) break;
        writeAll(file, buffer.subarray(0, length), this.#bytes);
        this.#bytes += length;
        this.waiting.push(record);
      }
      if (this.#isSynced) fdatasyncSync(file);
    } catch {
      // Records written before the error count.
    }
    return this.waiting.length - before;
  }

  /** Empties the reserve without giving its space back. */
  clear(): void {
    if (this.#file === null || this.#bytes === 0) return;
    try {
      writeAll(this.#file, Buffer.alloc(this.#bytes), 0);
      this.#bytes = 0;
    } catch {
      // The next records follow the old ones, and a repeated record is harmless.
    }
  }

  /** Gives the space back, unless records remain for the next process. */
  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
    if (this.waiting.length === 0) rmSync(this.#path, { force: true });
  }
}

function writeAll(file: number, bytes: Buffer, position: number): void {
  for (let written = 0; written < bytes.length;) {
    written += writeSync(file, bytes, written, bytes.length - written, position + written);
  }
}

const tryAgainMs = 1_000;
const usualRecordBytes = 1024;
const recordBytesMax = 64 * 1024;
