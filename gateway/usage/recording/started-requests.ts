import { closeSync, openSync, writeSync } from "node:fs";
import { decodeRecord, encodeRecord, type UsageRecord } from "./spool.ts";
import type { Log } from "../../log.ts";

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
  #hasProceeded = false;

  constructor(record: UsageRecord, started: StartedRequest | null, proceed: () => void, log: Log) {
    this.record = record;
    this.started = started;
    this.#proceed = proceed;
    this.#log = log;
  }

  /** An error in one response must not affect the other responses. */
  proceed(): void {
    if (this.#hasProceeded) return;
    this.#hasProceeded = true;
    try {
      this.#proceed();
    } catch (error) {
      this.#log.error({ requestId: this.record.id, error }, "cannot finish an answer");
    }
  }
}
