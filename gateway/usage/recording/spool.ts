import { mkdirSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { type UsageRecord, OpenSegment, type Segment } from "./segment.ts";

export type SpoolOptions = {
  /** This process's own. */
  folder: string;
  segmentBytesMax: number;
  segmentAgeMsMax: number;
  bytesMax: number;
  /** Whether a power cut may lose no more than some milliseconds of records, instead of some seconds. */
  isSynced: boolean;
};

/**
 * The records of this process, in files that outlive it until the database has them. Written and read by nobody else as
 * long as it lives. A file is used for a while, also for records that come when its first ones are in the database already:
 * to create and remove one costs much more than a record.
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

  /** About how many bytes of records are not in the database yet. */
  get waitingBytes(): number {
    return this.#sealedBytes + (this.#open?.waitingBytes ?? 0);
  }

  /** Returns false when the disk did not take them all; it has none of them then. */
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

  /** Ends the segment that is being written. */
  seal(): void {
    const segment = this.#open;
    if (segment === null) return;
    this.#open = null;
    segment.seal();
    const { path, bytes, waiting } = segment;
    // While the database is away they wait on the disk only.
    this.#sealed.push({ path, bytes, waiting: this.#sealed.length < inMemoryMax ? waiting : null });
    this.#sealedBytes += bytes;
  }

  /** What has waited longest. */
  get oldest(): Segment | undefined {
    return this.#sealed[0];
  }

  /** All of the oldest is in the database. */
  async removeOldest(): Promise<void> {
    const segment = this.#sealed.shift();
    if (!segment) return;
    this.#sealedBytes -= segment.bytes;
    await unlink(segment.path);
  }

  /** What waits in the segment that is being written, the oldest first. Whoever ships some takes it out. */
  get newest(): UsageRecord[] {
    return this.#open?.waiting ?? [];
  }

  /** Ends the segment that is being written if nothing in it waits and it is old; returns whether it did. */
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

/** Names and codes in a record are limited: a real one takes some 700 bytes. */
const bufferBytes = 64 * 1024;
const inMemoryMax = 3;
