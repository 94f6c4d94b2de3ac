import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "../../../db/database.ts";
import type { Settings } from "../../config/variables.ts";
import type { Log } from "../../log.ts";
import { DirectWriter, Shipper, Reserve } from "./shipper.ts";
import { PendingRecord, type StartedRequest, StartedRequests, type UsageRecord, Spool } from "./spool.ts";
import { Leftovers, type LockFile, SpoolFolder } from "./spool-folder.ts";
import type { HeldKey } from "../../../db/entities/api-key.ts";
import type { AttemptTiming, RequestTiming } from "../../../db/entities/usage-record.ts";
import type { TokenUsage } from "../../wire/token-usage.ts";
import type { GatewayError } from "../../errors.ts";
import { type Prices, toCost } from "../counting/cost.ts";

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
    const { usageBatchRecordsMax } = this.#options.limits;
    if (this.#spool.newest.length >= usageBatchRecordsMax && !this.#isFailing) void this.#ship();
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

type RecordedRequest = TimedRequest & {
  readonly id: string;
  readonly createdAt: Date;
  readonly key: HeldKey & { name: string; chargeFactor: number | null };
  readonly endpoint: string;
  /** The detected client tool, such as `claude-code`. Null for an unknown client. */
  readonly clientTool: string | null;
  /** Empty for a missing name, or a name that `RecordedModelNames` rejects. */
  readonly requestedModel: string;
  readonly stream: boolean;
  /** Null before the body is read. */
  readonly estimateInputTokens: (() => number) | null;
  /** The last attempted candidate. */
  readonly candidate: {
    credentialId: string | null;
    prices: Prices;
    costSource: "provider" | null;
    chargeFactor: number | null;
  } | null;
  /** `dropped`: the names of the dropped parts of the request, separated by commas. */
  readonly call: { readonly mayCost: boolean; readonly dropped: string | null } | null;
  /** Null unless an upstream returned status 200 and usable headers. */
  readonly answer: RecordedAnswer | null;
};

/** The received part of an upstream's answer with status 200. */
export type RecordedAnswer = {
  /** The estimated output tokens. */
  readonly tokens: number;
  /** The upstream's report. May be partial in an unfinished stream. */
  readonly usage: TokenUsage | null;
  /** A timestamp from `performance.now()`. Null before the first token. */
  readonly firstTokenAt: number | null;
};

export type Outcome = {
  status: UsageRecord["status"];
  httpStatus: number;
  error: GatewayError | null;
};

/** @param outcome null for the record that counts if the process dies */
export function buildUsageRecord(request: RecordedRequest, outcome: Outcome | null = null): UsageRecord {
  const { key, candidate, answer, startedAt } = request;
  const error = outcome?.error ?? null;
  // After a crash, a provider may have processed the request, so its cost is unknown instead of 0.
  const sentTo = outcome === null || request.call?.mayCost ? candidate : null;
  const counted = outcome && sentTo && completeUsage(request, outcome.status);
  const firstTokenAt = answer?.firstTokenAt ?? null;
  return {
    id: request.id,
    createdAt: request.createdAt,
    apiKeyId: key.id,
    apiKeyName: key.name,
    ownerId: key.ownerId,
    teamId: key.teamId,
    model: request.requestedModel,
    provider: candidate?.providerName ?? "",
    upstreamModel: candidate?.upstreamModel.name ?? null,
    credentialId: candidate?.credentialId ?? null,
    attempts: request.attempts,
    endpoint: request.endpoint,
    clientTool: request.clientTool,
    stream: request.stream,
    status: outcome?.status ?? "INTERRUPTED",
    httpStatus: outcome?.httpStatus ?? 500,
    errorCode: outcome ? (error?.upstream?.code ?? error?.code ?? null) : "gateway_died",
    limitedBy: error?.limitedBy ?? null,
    // Never the upstream's code, which may be any text.
    errorReason: outcome ? (error?.reason ?? error?.code ?? null) : "gateway_died",
    dropped: request.call?.dropped ?? null,
    ...usageColumns(counted),
    ...toCost(sentTo?.prices ?? null, counted?.usage ?? null, {
      costSource: candidate?.costSource ?? null,
      chargeFactor: chargeFactorOf(key) * chargeFactorOf(candidate),
      at: request.createdAt,
    }),
    latencyMs: Math.round(performance.now() - startedAt),
    timeToFirstTokenMs: firstTokenAt && Math.round(firstTokenAt - startedAt),
    // A running request's record has no timing, because long names could exceed the record's slot on disk.
    timing: outcome && timeRequest(request),
  };
}

/** Converts ten-thousandths, the stored unit, to a factor. */
function chargeFactorOf(billed: { chargeFactor: number | null } | null): number {
  return (billed?.chargeFactor ?? 10_000) / 10_000;
}

/** Estimates missing counts. Null if no upstream did any work: without a body, or for a failure before an answer. */
function completeUsage(
  { answer, estimateInputTokens }: RecordedRequest,
  status: Outcome["status"],
): CompletedUsage | null {
  if (estimateInputTokens === null || (status === "FAILED" && answer === null)) return null;
  const reported = answer?.usage ?? null;
  const inputTokens = reported?.inputTokens ?? estimateInputTokens();
  const outputTokens =
    status === "SUCCEEDED"
      ? (reported?.outputTokens ?? answer?.tokens ?? 0)
      : latestOf(reported?.outputTokens ?? 0, answer?.tokens ?? 0);
  if (reported?.inputTokens === inputTokens && reported.outputTokens === outputTokens) {
    return { usage: reported, estimated: false };
  }
  return { usage: { ...(reported ?? nothingReported), inputTokens, outputTokens }, estimated: true };
}

function usageColumns(counted: CompletedUsage | null) {
  const usage = counted?.usage;
  return {
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    cachedInputTokens: usage?.cachedInputTokens ?? null,
    cacheWriteInputTokens: usage?.cacheWriteInputTokens ?? null,
    reasoningTokens: usage?.reasoningTokens ?? null,
    estimated: counted?.estimated ?? false,
  };
}

type CompletedUsage = { usage: TokenUsage; estimated: boolean };

/**
 * A report far below the estimate is outdated: Anthropic counts the output only at the end of a stream. Other
 * reports may include hidden reasoning, which the estimate lacks.
 */
function latestOf(reported: number, estimated: number): number {
  return reported >= estimated / 2 ? reported : estimated;
}

const nothingReported = { cachedInputTokens: null, cacheWriteInputTokens: null, reasoningTokens: null };

export type { AttemptTiming, RequestTiming };

/** The members that end in `At` are timestamps from `performance.now()`. */
type TimedRequest = {
  readonly startedAt: number;
  /** When the request body was complete. */
  readonly receivedAt: number;
  /** `calledAt` and `attemptedAt`: the start of the first and of the latest attempt, 0 without an attempt. */
  readonly calledAt: number;
  readonly attemptedAt: number;
  readonly attempts: number;
  /** The first failed attempts with a retryable error, at most `attemptTimingsMax`. Null if none. */
  readonly failedAttempts: readonly AttemptTiming[] | null;
  readonly candidate: AttemptedCandidate | null;
};

type AttemptedCandidate = { providerName: string; upstreamModel: { name: string } };

/** Null without an attempt, or if the only attempt started at once: the latency then has a single phase. */
export function timeRequest(request: TimedRequest): RequestTiming | null {
  const { startedAt, receivedAt, calledAt, attempts, failedAttempts, candidate } = request;
  if (candidate === null || (attempts === 1 && calledAt - startedAt < waitMsMin)) return null;
  const timings = failedAttempts?.slice() ?? [];
  const isLastMissing = timings.length < Math.min(attempts, attemptTimingsMax);
  if (isLastMissing) timings.push(timeAttempt(request, candidate, null));
  return { receivedMs: Math.round(receivedAt - startedAt), attempts: timings };
}

export function timeAttempt(
  { startedAt, attemptedAt }: Pick<TimedRequest, "startedAt" | "attemptedAt">,
  { providerName, upstreamModel }: AttemptedCandidate,
  failure: string | null,
): AttemptTiming {
  return {
    provider: providerName,
    model: upstreamModel.name,
    startMs: Math.round(attemptedAt - startedAt),
    durationMs: Math.round(performance.now() - attemptedAt),
    failure,
  };
}

/** Later attempts are only counted. */
export const attemptTimingsMax = 8;

/** A request whose only attempt starts sooner has no timing. */
const waitMsMin = 20;
