import { closeSync, openSync, writeSync } from "node:fs";
import { decodeRecord, encodeRecord, type UsageRecord } from "./segment.ts";
import type { Log } from "../../log.ts";

/** A request whose upstream is called. */
export type StartedRequest = {
  /** As its record is to be if nothing more is ever heard of it; null when it is over. */
  toRecord: (() => UsageRecord) | null;
  slot: number | null;
};

/**
 * The requests under way, in a file of slots: so that of those whose process dies it is known that they were. A request is
 * written down when it is not over after a moment or two, which none is that a model has worked on; so it costs the quick ones
 * nothing, and the others not on their way. What is left in a slot after the request's end does no harm: its own record is
 * there by then, and the first with an id is the one that counts.
 */
export class StartedRequests {
  readonly #path: string;
  readonly #buffer = Buffer.allocUnsafeSlow(slotBytes);
  #file: number | null = null;
  /** Those of this moment, and those of the one before: they are due when it ends. */
  #recent: StartedRequest[] = [];
  #due: StartedRequest[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The one that was let go last is taken first, so that few are ever used. */
  readonly #free: number[] = [];
  /** By slot, whether what stands in it is of a request that has ended. */
  readonly #ended: boolean[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  add(toRecord: () => UsageRecord): StartedRequest {
    const request = { toRecord, slot: null };
    this.update(request);
    return request;
  }

  /** Its record is to be another one than before. */
  update(request: StartedRequest): void {
    this.#recent.push(request);
    this.#timer ??= setTimeout(() => this.#write(), momentMs).unref();
  }

  /** The request is over, and its record is safe. */
  end(request: StartedRequest): void {
    // Whoever still waits to be written must not keep what has ended.
    request.toRecord = null;
    if (request.slot === null) return;
    this.#free.push(request.slot);
    this.#ended[request.slot] = true;
  }

  /** Forgets the requests that have ended: some day their records will be deleted, and they must not come back then. */
  clearEnded(): void {
    try {
      for (const [slot, hasEnded] of this.#ended.entries()) {
        if (!hasEnded) continue;
        if (this.#file !== null) writeSync(this.#file, nothing, 0, nothing.length, slot * slotBytes);
        this.#ended[slot] = false;
      }
    } catch {
      // Only a slot that the full disk never had cannot be cleared either.
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
      // A disk that is full must not keep a request from being made.
    }
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

const momentMs = 10;
/** What the file system gives at once, and more than any of these records takes. */
const slotBytes = 4096;
const nothing = Buffer.alloc(8);

/** The record of a request that is over, on its way to safety, and what waits for that. */
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

  get hasProceeded(): boolean {
    return this.#hasProceeded;
  }

  /** Once. A mistake in one answer must not reach the others that wait with it. */
  proceed(): void {
    if (this.#hasProceeded) return;
    this.#hasProceeded = true;
    try {
      this.#proceed();
    } catch (error) {
      this.#log.error({ requestId: this.record.id, error }, "an answer could not be ended");
    }
  }
}
