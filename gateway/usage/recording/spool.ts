import { mkdirSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { type UsageRecord, OpenSegment, type Segment } from "./segment.ts";

export type SpoolOptions = {
  /** This process's own folder. */
  folder: string;
  segmentBytesMax: number;
  segmentAgeMsMax: number;
  bytesMax: number;
  /** Whether a power failure may lose only milliseconds of records instead of seconds. */
  isSynced: boolean;
};

/**
 * The records of this process, in files that outlive it until the database has them. Only this process uses the files.
 * A file is reused for later records, because creating and removing one costs much more than a record.
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

  /** Returns false when the disk refused them: then it holds none of them. */
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

  /** Ends the current segment. */
  seal(): void {
    const segment = this.#open;
    if (segment === null) return;
    this.#open = null;
    segment.seal();
    const { path, bytes, waiting } = segment;
    // While the database is unavailable, records stay on disk only.
    this.#sealed.push({ path, bytes, waiting: this.#sealed.length < inMemoryMax ? waiting : null });
    this.#sealedBytes += bytes;
  }

  /** The segment that has waited longest. */
  get oldest(): Segment | undefined {
    return this.#sealed[0];
  }

  /** Called when all of the oldest segment is in the database. */
  async removeOldest(): Promise<void> {
    const segment = this.#sealed.shift();
    if (!segment) return;
    this.#sealedBytes -= segment.bytes;
    await unlink(segment.path);
  }

  /** The waiting records of the current segment, oldest first. The shipper removes what it writes. */
  get newest(): UsageRecord[] {
    return this.#open?.waiting ?? [];
  }

  /** Ends the current segment if it is old and nothing in it waits. Returns whether it did. */
  retire(): boolean {
    const segment = this.#open;
    const { segmentAgeMsMax } = this.#options;
    if (segment === null || segment.waiting.length > 0) return false;
    if (performance.now() - segment.openedAt < segmentAgeMsMax) return false;
    this.seal();
    return true;
  }

  #create(): OpenSegment {
    this.#count++;
    const path = join(this.#options.folder, segmentName(this.#count));
    return new OpenSegment(path, this.#buffer, this.#options.isSynced);
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

/** Sorted by name. */
function segmentName(number: number): string {
  return `${String(number).padStart(10, "0")}${segmentSuffix}`;
}

export const segmentSuffix = ".records";

/** Names and codes have maximum lengths. A real record takes about 700 bytes. */
const bufferBytes = 64 * 1024;
const inMemoryMax = 3;
