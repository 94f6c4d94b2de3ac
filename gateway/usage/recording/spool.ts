import { closeSync, fdatasync, ftruncateSync, mkdirSync, openSync, writeSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { UsageRecordRow } from "../../../db/entities/usage-record.ts";
import type { Log } from "../../log.ts";

type SpoolOptions = {
  folder: string;
  segmentBytesMax: number;
  segmentAgeMsMax: number;
  bytesMax: number;
  /** If true, a power failure loses milliseconds of records instead of seconds. */
  isSynced: boolean;
};

/**
 * Keeps this process's records in files until the database has them. A file holds many records, because creating
 * and removing a file costs much more than writing a record.
 */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #buffer = Buffer.allocUnsafeSlow(bufferBytes);
  #open: OpenSegment | null = null;
  #sealed: Segment[] = [];
  #sealedBytes = 0;
  #count = 0;

  constructor(options: SpoolOptions) {
    this.#options = options;
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  }

  get isFull(): boolean {
    return this.waitingBytes >= this.#options.bytesMax;
  }

  /** The approximate number of bytes that are not in the database yet. */
  get waitingBytes(): number {
    return this.#sealedBytes + (this.#open?.waitingBytes ?? 0);
  }

  /** Returns false if the write failed. */
  append(records: readonly UsageRecord[]): boolean {
    try {
      const segment = (this.#open ??= this.#create());
      segment.append(records);
      if (segment.bytes >= this.#options.segmentBytesMax) this.seal();
      return true;
    } catch {
      this.#undo();
      return false;
    }
  }

  seal(): void {
    const segment = this.#open;
    if (segment === null) return;
    this.#open = null;
    segment.seal();
    const { path, bytes, waiting } = segment;
    // During an outage of the database, only the oldest segments also stay in memory.
    this.#sealed.push({ path, bytes, waiting: this.#sealed.length < inMemoryMax ? waiting : null });
    this.#sealedBytes += bytes;
  }

  get oldest(): Segment | undefined {
    return this.#sealed[0];
  }

  /** Removes the oldest sealed segment. The database must have its records. */
  async removeOldest(): Promise<void> {
    const segment = this.#sealed.shift();
    if (!segment) return;
    this.#sealedBytes -= segment.bytes;
    await unlink(segment.path);
  }

  /** The waiting records of the current segment, oldest first. The shipper removes written records from the array. */
  get newest(): UsageRecord[] {
    return this.#open?.waiting ?? [];
  }

  /** Seals the current segment if it is old and has no waiting records. Returns whether it was sealed. */
  retire(): boolean {
    const segment = this.#open;
    if (segment === null || segment.waiting.length > 0) return false;
    if (performance.now() - segment.openedAt < this.#options.segmentAgeMsMax) return false;
    this.seal();
    return true;
  }

  #create(): OpenSegment {
    const { folder, isSynced } = this.#options;
    return new OpenSegment(join(folder, segmentName(++this.#count)), this.#buffer, isSynced);
  }

  #undo(): void {
    try {
      this.#open?.undo();
    } catch {
      // Nothing may follow a torn record, because reading stops there.
      this.seal();
    }
  }
}

/** Names sort in the order of their numbers. */
function segmentName(number: number): string {
  return `${String(number).padStart(10, "0")}${segmentSuffix}`;
}

export const segmentSuffix = ".records";

/** `waiting` contains the records that the database lacks. Null if they are only in the file. */
export type Segment = { path: string; bytes: number; waiting: UsageRecord[] | null };

class OpenSegment implements Segment {
  readonly path: string;
  readonly openedAt = performance.now();
  bytes = 0;
  waiting: UsageRecord[] = [];
  #count = 0;
  readonly #file: number;
  readonly #buffer: Buffer;
  readonly #isSynced: boolean;
  #isSyncing = false;
  #isSealed = false;

  /**
   * @param buffer holds encoded records during `append`, so segments can share the buffer
   * @param isSynced whether appended records are flushed to the device, so that they survive a power failure
   */
  constructor(path: string, buffer: Buffer, isSynced: boolean) {
    this.path = path;
    this.#buffer = buffer;
    this.#isSynced = isSynced;
    this.#file = openSync(path, "wx", 0o600);
  }

  /** Writes synchronously, so that records survive the process. After an error, `undo` reverts the file. */
  append(records: readonly UsageRecord[]): void {
    let end = this.bytes;
    let filled = 0;
    for (const record of records) {
      let length = encodeRecord(this.#buffer, record, filled);
      if (length === 0) {
        writeAll(this.#file, this.#buffer.subarray(0, filled), end);
        end += filled;
        filled = 0;
        length = encodeRecord(this.#buffer, record);
        if (length === 0) throw new Error("A usage record exceeds the maximum size.");
      }
      filled += length;
    }
    writeAll(this.#file, this.#buffer.subarray(0, filled), end);
    this.bytes = end + filled;
    this.#count += records.length;
    for (const record of records) this.waiting.push(record);
    if (this.#isSynced && !this.#isSyncing) this.#sync();
  }

  get waitingBytes(): number {
    return this.#count === 0 ? 0 : (this.bytes / this.#count) * this.waiting.length;
  }

  /** Reverts a failed `append`. If `undo` throws, no record may be appended afterwards. */
  undo(): void {
    ftruncateSync(this.#file, this.bytes);
  }

  seal(): void {
    this.#isSealed = true;
    if (!this.#isSyncing) closeSync(this.#file);
  }

  /** One `fdatasync` covers all earlier appends. The next call covers records that were appended meanwhile. */
  #sync(): void {
    this.#isSyncing = true;
    const { bytes } = this;
    fdatasync(this.#file, () => {
      this.#isSyncing = false;
      if (bytes < this.bytes) this.#sync();
      else if (this.#isSealed) closeSync(this.#file);
    });
  }
}

/** A nearly full disk may accept only a part of the bytes in one write. */
export function writeAll(file: number, bytes: Buffer, position: number): void {
  for (let written = 0; written < bytes.length;) {
    written += writeSync(file, bytes, written, bytes.length - written, position + written);
  }
}

export type UsageRecord = UsageRecordRow;

/**
 * Encodes a record: the length and CRC32 of its JSON, 32 bits each, then the JSON.
 * @returns the number of bytes, or 0 if the record does not fit into the buffer after `at`
 */
export function encodeRecord(buffer: Buffer, record: UsageRecord, at = 0): number {
  // The date is a number, because formatting it takes as long as the rest. The last five members are omitted
  // if they are empty, as in most records.
  const text = JSON.stringify({
    ...record,
    createdAt: record.createdAt.getTime(),
    teamId: record.teamId ?? undefined,
    timing: record.timing ?? undefined,
    costDetails: record.costDetails ?? undefined,
    providerCost: record.providerCost ?? undefined,
    markup: record.markup || undefined,
  });
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  const room = buffer.length - headBytes - at;
  if (text.length * 3 > room && Buffer.byteLength(text) > room) return 0;
  const length = buffer.write(text, at + headBytes, "utf8");
  buffer.writeUInt32LE(length, at);
  buffer.writeUInt32LE(crc32(text), at + 4);
  return headBytes + length;
}

/** The record at a position. Null for an incomplete or damaged record. */
export function decodeRecord(bytes: Buffer, at: number): UsageRecord | null {
  if (at + headBytes > bytes.length) return null;
  const start = at + headBytes;
  const end = start + bytes.readUInt32LE(at);
  if (end === start || end > bytes.length) return null;
  if (crc32(bytes.subarray(start, end)) !== bytes.readUInt32LE(at + 4)) return null;
  const record = JSON.parse(bytes.toString("utf8", start, end)) as UsageRecord;
  const { teamId = null, timing = null, costDetails = null, providerCost = null, markup = 0 } = record;
  // `encodeRecord` omits these members if they are empty.
  const added = { teamId, timing, costDetails, providerCost, markup };
  return { ...record, ...added, createdAt: new Date(record.createdAt) };
}

/** Fits every record, because names and codes have maximum lengths. A typical record takes about 700 bytes. */
const bufferBytes = 64 * 1024;
const inMemoryMax = 3;
/** The length and the checksum of a record. */
export const headBytes = 8;

export type StartedRequest = {
  /** Builds the record that counts if the process dies. Null once the request's final record is written. */
  toRecord: (() => UsageRecord) | null;
  slot: number | null;
};

/**
 * Keeps running requests in a file of slots, in case the process crashes. Requests are written to a slot after
 * 10–20 ms, so short requests never need one. A stale slot is harmless: the first record with an ID counts.
 */
export class StartedRequests {
  readonly #path: string;
  readonly #buffer = Buffer.allocUnsafeSlow(slotBytes);
  #file: number | null = null;
  /** The requests of the current timer interval. The timer writes `#due`, the requests of the previous interval. */
  #recent: StartedRequest[] = [];
  #due: StartedRequest[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #free: number[] = [];
  /** Whether each slot still contains a request that has ended. */
  readonly #ended: boolean[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  add(toRecord: () => UsageRecord): StartedRequest {
    const request = { toRecord, slot: null };
    this.update(request);
    return request;
  }

  update(request: StartedRequest): void {
    this.#recent.push(request);
    this.#timer ??= setTimeout(() => this.#write(), momentMs).unref();
  }

  /** Frees the slot of a request whose final record is on disk or in the database. */
  end(request: StartedRequest): void {
    // A queued entry must not keep the finished request in memory.
    request.toRecord = null;
    if (request.slot === null) return;
    this.#free.push(request.slot);
    this.#ended[request.slot] = true;
  }

  /** Clears the slots of finished requests. A crash must not restore a record that retention has deleted. */
  clearEnded(): void {
    try {
      for (const [slot, hasEnded] of this.#ended.entries()) {
        if (!hasEnded) continue;
        if (this.#file !== null) writeSync(this.#file, nothing, 0, nothing.length, slot * slotBytes);
        this.#ended[slot] = false;
      }
    } catch {
      // On a full disk, a write fails only for a slot that was never written. Such a slot needs no clearing.
      this.#ended.fill(false);
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  #write(): void {
    this.#timer = undefined;
    const requests = this.#due;
    this.#due = this.#recent;
    this.#recent = [];
    if (this.#due.length > 0) this.#timer = setTimeout(() => this.#write(), momentMs).unref();
    for (const request of requests) {
      if (request.toRecord) this.#writeOne(request, request.toRecord());
    }
  }

  #writeOne(request: StartedRequest, record: UsageRecord): void {
    const slot = (request.slot ??= this.#free.pop() ?? this.#ended.length);
    this.#ended[slot] = false;
    try {
      this.#file ??= openSync(this.#path, "w", 0o600);
      const length = encodeRecord(this.#buffer, record);
      writeSync(this.#file, this.#buffer, 0, length, slot * slotBytes);
    } catch {
      // A full disk must not make the request fail.
    }
  }
}

export function decodeStarted(bytes: Buffer): UsageRecord[] {
  const records: UsageRecord[] = [];
  for (let at = 0; at < bytes.length; at += slotBytes) {
    const record = decodeRecord(bytes.subarray(0, at + slotBytes), at);
    if (record) records.push(record);
  }
  return records;
}

const momentMs = 10;
/** The usual block size of a file system. Records of running requests are smaller. */
const slotBytes = 4096;
const nothing = Buffer.alloc(8);

/** A finished request's unwritten record, and the callback that completes the response. */
export class PendingRecord {
  readonly record: UsageRecord;
  readonly started: StartedRequest | null;
  readonly #proceed: () => void;
  readonly #log: Log;

  constructor(record: UsageRecord, started: StartedRequest | null, proceed: () => void, log: Log) {
    this.record = record;
    this.started = started;
    this.#proceed = proceed;
    this.#log = log;
  }

  /** An error in one response must not affect the other responses. */
  proceed(): void {
    try {
      this.#proceed();
    } catch (error) {
      this.#log.error({ requestId: this.record.id, error }, "cannot finish an answer");
    }
  }
}
