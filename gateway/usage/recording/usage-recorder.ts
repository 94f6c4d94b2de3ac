import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "../../../db/database.ts";
import type { Settings } from "../../config/limit-variables.ts";
import type { Log } from "../../log.ts";
import { DirectWriter, Shipper, Reserve } from "./shipper.ts";
import { PendingRecord, type StartedRequest, StartedRequests } from "./started-requests.ts";
import { Leftovers, type LockFile, SpoolFolder } from "./spool-folder.ts";
import { type UsageRecord, Spool } from "./spool.ts";

type UsageRecorderOptions = {
  database: Database;
  log: Log;
  dataDir: string;
  lockFile: LockFile;
  /** Creates a name that no other process ever had. */
  createName: () => string;
  isSynced: boolean;
  limits: Settings;
};

/**
 * Writes usage records to a spool on disk, then to the database in batches. Records survive a crash of the process
 * and an outage of the database. While the recorder is full, the gateway rejects model requests.
 */
export class UsageRecorder {
  readonly #options: UsageRecorderOptions;
  readonly #folder: SpoolFolder;
  readonly #spool: Spool;
  readonly #reserve: Reserve;
  #isReserveMissing = false;
  readonly #started: StartedRequests;
  readonly #shipper: Shipper;
  readonly #direct: DirectWriter;
  readonly #leftovers: Leftovers;
  /** Records of this event loop turn. */
  #pending: PendingRecord[] = [];
  #timer: NodeJS.Timeout | undefined;
  #shipping: Promise<void> | null = null;
  readonly #batchRecordsMax: number;
  #pauseMs: number;
  /** The approximate time of the oldest record that the database lacks. Null if it has every record. */
  #waitingSince: number | null = null;
  #isFailing = false;
  #isClosed = false;
  #onShipped: ((records: readonly UsageRecord[]) => void) | null = null;

  constructor(options: UsageRecorderOptions) {
    const { database, log, dataDir, lockFile, createName, isSynced, limits } = options;
    this.#options = options;
    const root = join(dataDir, "spool");
    this.#folder = SpoolFolder.create(root, lockFile, createName);
    this.#spool = new Spool({
      folder: this.#folder.path,
      segmentBytesMax: limits.usageSegmentBytesMax,
      segmentAgeMsMax: limits.usageSegmentAgeMsMax,
      bytesMax: limits.usageSpoolBytesMax,
      isSynced,
    });
    const reserve = { bytesMax: limits.usageReserveBytes, isSynced };
    this.#reserve = new Reserve(this.#folder.reservePath, reserve);
    this.#prepareReserve();
    this.#started = new StartedRequests(this.#folder.startedPath);
    const batchRecordsMax = limits.usageBatchRecordsMax;
    this.#batchRecordsMax = batchRecordsMax;
    const shipped = (records: readonly UsageRecord[]) => this.#onShipped?.(records);
    this.#shipper = new Shipper({ database, log, batchRecordsMax, shipped });
    this.#direct = new DirectWriter({
      shipper: this.#shipper,
      appendToSpool: (records) => this.#spool.append(records),
      reserve: this.#reserve,
      onSafe: (pending) => this.#noteSafe(pending),
    });
    const shipper = new Shipper({ database, log, batchRecordsMax });
    const adoptIntervalMs = limits.usageAdoptIntervalMs;
    this.#leftovers = new Leftovers({ root, lockFile, shipper, log, adoptIntervalMs });
    this.#pauseMs = limits.usageFlushIntervalMs;
    void this.#leftovers.adopt();
    this.#shipLater();
  }

  /** The listener receives this process's records once they are in the database. */
  onShipped(listener: (records: readonly UsageRecord[]) => void): void {
    this.#onShipped = listener;
  }

  get isFull(): boolean {
    return this.#spool.isFull || this.#direct.isStuck;
  }

  get waitingBytes(): number {
    return this.#spool.waitingBytes;
  }

  /** The approximate age of the oldest waiting record. 0 if none waits. */
  get waitingMs(): number {
    return this.#waitingSince === null ? 0 : performance.now() - this.#waitingSince;
  }

  /**
   * Registers a request before its first upstream call.
   * @param toRecord builds the record that counts if the process dies
   * @returns the handle for `update` and `record`
   */
  start(toRecord: () => UsageRecord): StartedRequest {
    return this.#started.add(toRecord);
  }

  /** Registers a request again, because the result of `toRecord` has changed. */
  update(started: StartedRequest): void {
    this.#started.update(started);
  }

  /**
   * Calls `proceed` after the write to disk, in the same event loop turn. If the write to disk fails, `proceed`
   * runs after one attempt to write the record to the database.
   */
  record(record: UsageRecord, started: StartedRequest | null, proceed: () => void): void {
    this.#waitingSince ??= performance.now();
    const pending = new PendingRecord(record, started, proceed, this.#options.log);
    if (this.#pending.push(pending) === 1) setImmediate(() => this.#writePending());
  }

  /** Resolves when all earlier records are in the database, or when a write failed. */
  async flush(): Promise<void> {
    this.#writePending();
    // Another `readUndisturbed` may start when the current operation ends, so one wait is not enough.
    while (this.#shipping) await this.#shipping;
    await this.#ship();
  }

  /** Pauses the spool's writes to the database during `read`. */
  async readUndisturbed(read: () => Promise<void>): Promise<void> {
    while (this.#shipping) await this.#shipping;
    clearTimeout(this.#timer);
    const reading = read();
    this.#shipping = reading
      .catch(() => {})
      .finally(() => {
        this.#shipping = null;
        this.#shipLater();
      });
    return reading;
  }

  /** Resolves when the records of dead processes are in the database, or when a write failed. */
  adoptLeftovers(): Promise<void> {
    return this.#leftovers.adopt();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#leftovers.close();
    await this.flush();
    this.#spool.seal();
    this.#started.close();
    const { log } = this.#options;
    if (!this.#isFailing) while (this.#spool.oldest) await this.#spool.removeOldest();
    else log.warn("usage records remain in the spool until a gateway can write them");
    if (this.#direct.isEmpty) await rm(this.#folder.startedPath, { force: true });
    else log.error("usage records are lost: neither disk nor database is writable");
    this.#reserve.close();
    await this.#folder.leave();
  }

  #writePending(): void {
    const pending = this.#pending;
    if (pending.length === 0) return;
    this.#pending = [];
    if (!this.#spool.append(pending.map(({ record }) => record))) return this.#direct.write(pending);
    this.#noteSafe(pending);
    for (const each of pending) each.proceed();
    if (this.#spool.newest.length >= this.#batchRecordsMax && !this.#isFailing) void this.#ship();
  }

  #noteSafe(pending: readonly PendingRecord[]): void {
    for (const { started } of pending) if (started) this.#started.end(started);
  }

  #shipLater(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#ship(), this.#pauseMs).unref();
  }

  #ship(): Promise<void> {
    clearTimeout(this.#timer);
    this.#shipping ??= this.#shipAll().finally(() => {
      this.#shipping = null;
      this.#shipLater();
    });
    return this.#shipping;
  }

  async #shipAll(): Promise<void> {
    const { log, limits } = this.#options;
    this.#isFailing = true;
    this.#prepareReserve();
    try {
      await this.#direct.flush();
      this.#isFailing = !(await this.#shipSpool());
    } catch (error) {
      log.error({ error }, "cannot read usage records: will retry");
    }
    this.#pauseMs = this.#isFailing ? Math.min(this.#pauseMs * 2, pauseMsMax) : limits.usageFlushIntervalMs;
  }

  #prepareReserve(): void {
    try {
      this.#reserve.prepare();
      this.#isReserveMissing = false;
    } catch (error) {
      const { log } = this.#options;
      if (!this.#isReserveMissing)
        log.error({ error }, "no disk space for usage records: free some of DATA_DIR");
      this.#isReserveMissing = true;
    }
  }

  async #shipSpool(): Promise<boolean> {
    for (let segment = this.#spool.oldest; segment; segment = this.#spool.oldest) {
      if (!(await this.#shipper.shipSegment(segment))) return false;
      await this.#spool.removeOldest();
    }
    const { newest } = this.#spool;
    const takenAt = performance.now();
    if (!(await this.#shipper.ship(newest))) return false;
    this.#waitingSince = newest.length > 0 || this.#spool.oldest ? takenAt : null;
    if (this.#spool.retire()) {
      await this.#spool.removeOldest();
      this.#started.clearEnded();
    }
    return true;
  }
}

const pauseMsMax = 2_000;
