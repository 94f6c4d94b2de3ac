import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { UsageRecord } from "./record-format.ts";
import { Segment, type WaitingSegment } from "./segment.ts";

export type SpoolOptions = {
  /** This process's own. */
  folder: string;
  segmentBytesMax: number;
  bytesMax: number;
  /** Whether a power cut may lose no more than some milliseconds of records, instead of some seconds. */
  isSynced: boolean;
};

/**
 * The records of this process that are not in the database yet, in files that outlive it. Written and read by nobody else
 * as long as it lives.
 */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #buffer = Buffer.allocUnsafeSlow(recordBytesMax);
  #current: Segment | null = null;
  #sealed: WaitingSegment[] = [];
  #sealedBytes = 0;
  #count = 0;

  constructor(options: SpoolOptions) {
    this.#options = options;
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  }

  get isFull(): boolean {
    return this.#sealedBytes + (this.#current?.bytes ?? 0) >= this.#options.bytesMax;
  }

  /** Returns false when the disk did not take it. */
  append(record: UsageRecord): boolean {
    try {
      const segment = (this.#current ??= this.#open());
      segment.append(record);
      if (segment.bytes >= this.#options.segmentBytesMax) this.seal();
      return true;
    } catch {
      this.#undo();
      return false;
    }
  }

  /** What was appended until now can be shipped. */
  seal(): void {
    const segment = this.#current;
    if (segment === null) return;
    this.#current = null;
    segment.seal();
    const { path, bytes, records } = segment;
    // While the database is away they wait on the disk only.
    const isKept = this.#sealed.length < segmentsInMemoryMax;
    this.#sealed.push({ path, bytes, records: isKept ? records : null });
    this.#sealedBytes += bytes;
  }

  /** What has waited longest. */
  get oldest(): WaitingSegment | undefined {
    return this.#sealed[0];
  }

  /** The oldest has been shipped. */
  async removeOldest(): Promise<void> {
    const segment = this.#sealed.shift();
    if (!segment) return;
    this.#sealedBytes -= segment.bytes;
    await rm(segment.path, { force: true });
  }

  #open(): Segment {
    this.#count++;
    const path = join(this.#options.folder, segmentName(this.#count));
    return new Segment(path, this.#buffer, this.#options.isSynced);
  }

  #undo(): void {
    try {
      this.#current?.undo();
    } catch {
      // Nothing may follow what is torn, because nothing is read behind it.
      this.seal();
    }
  }
}

/** Their order is that of their names. */
function segmentName(number: number): string {
  return `${String(number).padStart(10, "0")}${segmentSuffix}`;
}

export const segmentSuffix = ".records";

/** Names and codes in a record are limited: a real one takes some 600 bytes. */
const recordBytesMax = 64 * 1024;
const segmentsInMemoryMax = 3;
