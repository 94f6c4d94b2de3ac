import { readFile } from "node:fs/promises";
import type { Database } from "../../../db/database.ts";
import type { Log } from "../../log.ts";
import {
  decodeRecord,
  headBytes,
  type UsageRecord,
  type Segment,
  encodeRecord,
  type PendingRecord,
  writeAll,
} from "./spool.ts";
import { closeSync, fdatasyncSync, openSync, rmSync } from "node:fs";

type ShipperOptions = {
  database: Database;
  log: Log;
  batchRecordsMax: number;
  /** Receives records once they are in the database. */
  shipped?: (records: readonly UsageRecord[]) => void;
};

/** Writes records to the database in batches. A repeated write is harmless, because it skips existing IDs. */
export class Shipper {
  readonly #options: ShipperOptions;
  #isFailing = false;

  constructor(options: ShipperOptions) {
    this.#options = options;
  }

  /** Writes a segment's records and removes them from memory. Returns false when some remain. */
  async shipSegment(segment: Pick<Segment, "path" | "waiting">): Promise<boolean> {
    segment.waiting ??= await this.#read(segment.path);
    return this.ship(segment.waiting);
  }

  /**
   * Writes the records of a list and removes them from the list. Returns true if all records at the time of
   * the call are written. Records may be appended meanwhile.
   */
  async ship(waiting: UsageRecord[]): Promise<boolean> {
    const { database, log, batchRecordsMax, shipped } = this.#options;
    try {
      for (let left = waiting.length; left > 0;) {
        const batch = waiting.slice(0, Math.min(left, batchRecordsMax));
        await database.write(({ usageRecords }) => usageRecords.insertAll(batch));
        waiting.splice(0, batch.length);
        left -= batch.length;
        shipped?.(batch);
      }
      this.#isFailing = false;
      return true;
    } catch (error) {
      if (!this.#isFailing) log.error({ error }, "cannot write usage records: will retry");
      this.#isFailing = true;
      return false;
    }
  }

  async #read(path: string): Promise<UsageRecord[]> {
    const { records, tornBytes } = decodeRecords(await readFile(path));
    if (tornBytes > 0) this.#options.log.warn({ path, tornBytes }, "a crash truncated a usage record");
    return records;
  }
}

/** Stops at the first incomplete or damaged record, because a crash truncates the end. */
export function decodeRecords(bytes: Buffer): { records: UsageRecord[]; tornBytes: number } {
  const records: UsageRecord[] = [];
  let at = 0;
  for (let record = decodeRecord(bytes, at); record; record = decodeRecord(bytes, at)) {
    records.push(record);
    at += headBytes + bytes.readUInt32LE(at);
  }
  // A reserve that is not full ends with zeros.
  const isTorn = bytes.subarray(at).some((byte) => byte !== 0);
  return { records, tornBytes: isTorn ? bytes.length - at : 0 };
}

type DirectWriterOptions = {
  shipper: Shipper;
  appendToSpool: (records: readonly UsageRecord[]) => boolean;
  reserve: Reserve;
  /** Receives records once they are on disk or in the database. */
  onSafe: (pending: readonly PendingRecord[]) => void;
};

/**
 * Writes records to the database after a failed write to disk. If the write to the database fails too, the records
 * go to the reserve. What does not fit there stays in memory, and its responses wait for their end.
 */
export class DirectWriter {
  readonly #options: DirectWriterOptions;
  #isStuck = false;
  #waiting: PendingRecord[] = [];
  #writing: Promise<void> | null = null;

  constructor(options: DirectWriterOptions) {
    this.#options = options;
  }

  /** Whether the last writes to the database and to disk both failed, or the reserve might not suffice if they fail. */
  get isStuck(): boolean {
    const { reserve } = this.#options;
    return this.#isStuck || !reserve.isReady || this.#waiting.length > reserve.recordsMax / 2;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  write(pending: readonly PendingRecord[]): void {
    this.#waiting.push(...pending);
    void this.flush();
  }

  /** Resolves when no record waits, or when the writes to the database and to disk both failed. */
  flush(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    const { reserve, onSafe } = this.#options;
    while (this.#waiting.length > 0 || reserve.waiting.length > 0) {
      const batch = this.#waiting.slice();
      const left = batch.map(({ record }) => record);
      const isWritten = (await this.#writeReserved()) && (await this.#writeSomewhere(left));
      if (!isWritten) left.splice(0, reserve.append(left));
      const safe = batch.slice(0, batch.length - left.length);
      this.#waiting = this.#waiting.slice(safe.length);
      // The others wait: a process that dies now would lose the records of complete responses.
      for (const each of safe) each.proceed();
      this.#isStuck = !isWritten;
      onSafe(safe);
      if (!isWritten) return;
    }
  }

  async #writeReserved(): Promise<boolean> {
    const { reserve } = this.#options;
    if (reserve.waiting.length === 0) return true;
    if (!(await this.#writeSomewhere(reserve.waiting))) return false;
    reserve.clear();
    return true;
  }

  /** Removes the written records from the list. Returns whether all are written. */
  async #writeSomewhere(records: UsageRecord[]): Promise<boolean> {
    const { shipper, appendToSpool } = this.#options;
    if (await shipper.ship(records)) return true;
    // The disk may have space again.
    if (!appendToSpool(records)) return false;
    records.length = 0;
    return true;
  }
}

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

const tryAgainMs = 1_000;
const usualRecordBytes = 1024;
const recordBytesMax = 64 * 1024;
