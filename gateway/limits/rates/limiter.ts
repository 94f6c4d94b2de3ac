import { type LimitHolder, type GatewayError, toGatewayError } from "../../errors.ts";
import type { Settings } from "../../config/limit-variables.ts";
import type { UsageRecord } from "../../usage/recording/spool.ts";
import { Admission, FairQueue, type QueueSlot } from "./admission.ts";
import type { EnforcedLimits } from "../key-limits.ts";
import { Meter } from "./meter.ts";
import {
  checkLimits,
  checkSize,
  type ExactCounts,
  type Reservation,
  type HolderLimits,
} from "./holder-limits.ts";

export type LimitedKey = Readonly<{ id: string; ownerId: string | null; limits: EnforcedLimits | null }>;

type Asking = {
  readonly key: LimitedKey;
  /** Runs before the decision, because a rejected request has an admission too. */
  admitting(admission: Admission): void;
  fail(error: GatewayError): void;
};

type LimiterOptions = {
  now: () => number;
  limits: Settings;
  budgets: { check(key: LimitedKey): void; spend(key: LimitedKey, record: UsageRecord): void };
  /** All meters by holder ID. `ShareExchange` and `ValkeyLimits` read the same map. */
  meters?: Map<string, Meter>;
  /** The number of processes that currently divide the per-minute limits. See `ShareExchange`. */
  sharedBy?: () => number;
  /** Counts of all processes together. Null without Valkey. */
  exact?: ExactCounts | null;
};

export class Limiter {
  readonly #options: LimiterOptions;
  readonly #meters: Map<string, Meter>;
  readonly #queue: FairQueue;
  /** The limit holders of recently used keys, by key ID. */
  readonly #holders = new Map<string, KeyHolders>();

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#meters = options.meters ?? new Map();
    this.#queue = new FairQueue(options.limits);
  }

  /**
   * Throws the error of an exceeded limit or a full queue. Errors after the call to Valkey go to
   * `asking.fail` instead.
   * @param start runs at once, or when the process has room
   */
  admit(asking: Asking, bodyBytes: number, start: () => void): void {
    const { now, budgets } = this.#options;
    const { key } = asking;
    const holders = this.#holdersOf(key);
    const slot: QueueSlot = {
      keyId: key.id,
      start: () => startSafely(asking, start),
      refuse: (error) => asking.fail(error),
      state: "new",
    };
    const admission = new Admission({
      holders,
      now,
      spend: (record) => budgets.spend(key, record),
      isWaiting: () => slot.state === "waiting",
      leave: () => this.#queue.leave(slot),
    });
    asking.admitting(admission);
    const estimate = estimateTokens(bodyBytes);
    budgets.check(key);
    for (const limits of holders) checkSize(limits, estimate);
    const counting = { asking, admission, holders, estimate, slot };
    const { exact } = this.#options;
    if (exact?.isThere && holders.length > 0) {
      this.#queue.check(key.id);
      void this.#countExactly(exact, counting);
    } else this.#count(counting);
  }

  #count({ admission, holders, estimate, slot }: Counting, reservation: Reservation | null = null): void {
    const { now, sharedBy, exact } = this.#options;
    // Once Valkey's counts include the whole last minute, its decision is enough.
    if (!reservation || !exact?.knowsAll) {
      for (const limits of holders) checkLimits(limits, estimate, now(), sharedBy?.());
    }
    this.#queue.check(slot.keyId);
    admission.reserve(estimate, reservation ?? (holders.length > 0 ? exact?.assumeAdmitted(holders) : null));
    this.#queue.enter(slot);
  }

  async #countExactly(exact: Pick<ExactCounts, "reserve">, counting: Counting): Promise<void> {
    const { asking, admission, holders, estimate } = counting;
    const answer = await exact.reserve(holders, estimate);
    const reservation = answer && "undo" in answer ? answer : null;
    // The request ended while Valkey decided.
    if (admission.isOver) return reservation?.undo();
    admission.exactUse = answer && answer.used;
    if (answer && "error" in answer) return asking.fail(answer.error);
    try {
      this.#count(counting, reservation);
    } catch (error) {
      reservation?.undo();
      asking.fail(toGatewayError(error));
    }
  }

  /** The current use of a key with limits, as known to this process. */
  statusOf(key: Pick<LimitedKey, "id">): LimitStatus {
    const second = Math.floor(this.#options.now() / 1000);
    const meter = this.#meters.get(key.id);
    return {
      requestsInMinute: meter?.requests.used(second) ?? 0,
      tokensInMinute: Math.round(meter?.tokens.used(second) ?? 0),
      concurrentRequests: meter?.concurrent ?? 0,
    };
  }

  get meters(): ReadonlyMap<string, Meter> {
    return this.#meters;
  }

  /** Drops unused meters, once their use is shared. */
  sweep(): void {
    // Cached holders would keep the removed meters.
    this.#holders.clear();
    const second = Math.floor(this.#options.now() / 1000);
    for (const [id, meter] of this.#meters) {
      if (meter.unsharedFrom === null && meter.isIdle(second)) this.#meters.delete(id);
    }
  }

  #holdersOf(key: LimitedKey): readonly HolderLimits[] {
    const known = this.#holders.get(key.id);
    if (known?.limits === key.limits && known.ownerId === key.ownerId) return known.holders;
    const holders = this.#listHolders(key);
    this.#holders.set(key.id, { limits: key.limits, ownerId: key.ownerId, holders });
    return holders;
  }

  #listHolders({ id, ownerId, limits: own }: LimitedKey): HolderLimits[] {
    const { limits } = this.#options;
    const holders: HolderLimits[] = [];
    this.#addHolder(holders, id, "key", {
      requestsPerMinute: own?.requestsPerMinute ?? limits.keyRequestsPerMinuteMax,
      tokensPerMinute: own?.tokensPerMinute ?? limits.keyTokensPerMinuteMax,
      concurrentRequests: own?.concurrentRequests ?? limits.keyConcurrentRequestsMax,
    });
    if (ownerId !== null) {
      this.#addHolder(holders, ownerId, "person", {
        requestsPerMinute: limits.personRequestsPerMinuteMax,
        tokensPerMinute: limits.personTokensPerMinuteMax,
        concurrentRequests: limits.personConcurrentRequestsMax,
      });
    }
    this.#addHolder(holders, wholeGateway, "gateway", {
      requestsPerMinute: limits.gatewayRequestsPerMinuteMax,
      tokensPerMinute: limits.gatewayTokensPerMinuteMax,
      concurrentRequests: 0,
    });
    return holders;
  }

  #addHolder(
    holders: HolderLimits[],
    id: string,
    holder: LimitHolder,
    limits: Omit<HolderLimits, "id" | "meter" | "holder">,
  ): void {
    const { requestsPerMinute, tokensPerMinute, concurrentRequests } = limits;
    if (requestsPerMinute === 0 && tokensPerMinute === 0 && concurrentRequests === 0) return;
    let meter = this.#meters.get(id);
    if (!meter) this.#meters.set(id, (meter = new Meter()));
    holders.push({ id, holder, meter, requestsPerMinute, tokensPerMinute, concurrentRequests });
  }
}

/** The cached holders of a key, and the limits and owner that they were built from. */
type KeyHolders = Pick<LimitedKey, "limits" | "ownerId"> & { holders: readonly HolderLimits[] };

type Counting = {
  asking: Asking;
  admission: Admission;
  holders: readonly HolderLimits[];
  estimate: number;
  slot: QueueSlot;
};

/** A queued request has no caller that catches its error. */
function startSafely(asking: Asking, start: () => void): void {
  try {
    start();
  } catch (error) {
    asking.fail(toGatewayError(error));
  }
}

type LimitStatus = {
  requestsInMinute: number;
  tokensInMinute: number;
  concurrentRequests: number;
};

const wholeGateway = "gateway";

/** English prose and JSON have about four bytes per token. The real count follows when the request ends. */
function estimateTokens(bodyBytes: number): number {
  return Math.ceil(bodyBytes / 4);
}
