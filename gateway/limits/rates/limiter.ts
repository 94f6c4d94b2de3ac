import { toGatewayError, type GatewayError } from "../../errors.ts";
import type { Settings } from "../../config/variables.ts";
import { Admission, FairQueue, type QueueSlot, admitNothing, checkEarly, countRequest } from "./admission.ts";
import { type Blocking, type Waiter, WaitingRoom } from "./waiting-room.ts";
import { Meter } from "./meter.ts";
import {
  checkLimits,
  checkSize,
  type ExactCounts,
  type Reservation,
  type HolderLimits,
  refusalOfTokens,
  type TokenEstimate,
} from "./holder-limits.ts";
import type { UsageRecord } from "../../usage/recording/spool.ts";
import { type KeyLimits, type LimitedKey, LimitsInForce } from "../holders.ts";
import { type Prices, toCost } from "../../usage/counting/cost.ts";

type LimiterOptions = {
  now: () => number;
  limits: Settings;
  /** By default, those of the settings. */
  inForce?: LimitsInForce;
  budgets: LimitingBudgets;
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
  readonly #room: WaitingRoom;
  readonly #usual = new UsualUse();
  readonly #holders: LimitHolders;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#meters = options.meters ?? new Map();
    this.#holders = new LimitHolders(this.#meters, options.inForce ?? new LimitsInForce(options.limits));
    this.#queue = new FairQueue(options.limits);
    this.#room = new WaitingRoom(options.limits);
  }

  /**
   * Throws the error of an exceeded limit or a full queue. Errors after the call to Valkey or after a wait go to
   * `asking.fail` instead.
   * @param start runs at once, or when the limits and the process have room
   * @param describe returns the request's price and size. Without it, only the input counts.
   */
  admit(asking: Asking, bodyBytes: number, start: () => void, describe?: () => Demand | null): void {
    const { now, budgets } = this.#options;
    const { key } = asking;
    const holders = this.#holders.of(key);
    const hasBudget = budgets.applyTo(key);
    const slot: QueueSlot = {
      keyId: key.id,
      start: () => startSafely(asking, start),
      refuse: (error) => asking.fail(error),
      state: "new",
    };
    const waiter: Waiter = {
      keyId: key.id,
      retry: () => this.#retry(counting),
      refuse: (error) => asking.fail(error),
      blocking: null,
    };
    const isLimited = hasBudget || holders.length > 0;
    const admission = new Admission({
      holders,
      now,
      spend: (record) => {
        budgets.spend(key, record);
        if (isLimited) this.#usual.learn(key.id, record);
      },
      isWaiting: () => slot.state === "waiting",
      leave: () => {
        const hasWaited = waiter.blocking !== null;
        if (hasWaited) this.#room.leave(waiter);
        this.#queue.leave(slot);
        // Those behind it may need less.
        if (hasWaited) this.#wake(key, admission.holders);
      },
      returned: () => this.#wake(key, admission.holders),
    });
    asking.admitting(admission);
    const demand = isLimited ? (describe?.() ?? null) : null;
    const usual = this.#usual.of(key.id);
    const input = estimateTokens(bodyBytes);
    const output = demand ? Math.min(Math.round(usual.outputTokens), demand.outputTokensMax ?? Infinity) : 0;
    const tokens = { input, total: input + output };
    const cost = hasBudget && demand ? estimateCost(demand, { ...usual, outputTokens: output }, now()) : 0;
    const counting: Counting = { asking, admission, holders, tokens, cost, slot, waiter };
    void this.#attempt(counting);
  }

  /** Throws the error of a limit or budget that is exceeded already, before work. Counts nothing: `admit` follows. */
  check(asking: Asking): void {
    const holders = this.#holders.of(asking.key);
    asking.admitting(admitNothing(holders, this.#options.now));
    this.#options.budgets.check(asking.key);
    checkEarly(holders, this.#options);
  }

  /** Counts a request that calls no model, without tokens and budgets. Throws the error of an exceeded rate. */
  countRequest(key: LimitedKey): Promise<void> {
    return countRequest(this.#holders.of(key), this.#options);
  }

  /** Returns a promise while Valkey decides, or null. Throws like `admit`. */
  #attempt(counting: Counting): Promise<void> | null {
    const { asking, holders, tokens, slot } = counting;
    const { budgets, exact } = this.#options;
    budgets.check(asking.key);
    for (const limits of holders) checkSize(limits, tokens.input);
    if (exact?.isThere && holders.length > 0) {
      const blocking = this.#findLine(counting) ?? this.#findBudget(counting);
      if (blocking) {
        this.#room.enter(counting.waiter, blocking);
        return null;
      }
      this.#queue.check(slot.keyId);
      return this.#countExactly(exact, counting);
    }
    this.#count(counting);
    return null;
  }

  #retry(counting: Counting): Promise<void> | null {
    // The limits may have changed while the request waited.
    counting.holders = counting.admission.holders = this.#holders.of(counting.asking.key);
    try {
      return this.#attempt(counting);
    } catch (error) {
      counting.asking.fail(toGatewayError(error));
      return null;
    }
  }

  #count(counting: Counting, reservation: Reservation | null = null): void {
    const { asking, admission, holders, tokens, cost, slot, waiter } = counting;
    const { now, sharedBy, exact, budgets } = this.#options;
    let blocking: Blocking | null = null;
    // Once Valkey's counts include the whole last minute, its decision is enough.
    if (!reservation || !exact?.knowsAll) {
      for (const limits of holders) {
        if (checkLimits(limits, tokens, now(), sharedBy?.()))
          blocking ??= this.#tokenBlocking(counting, limits);
      }
      blocking ??= this.#findLine(counting);
    }
    blocking ??= this.#findBudget(counting);
    if (blocking) {
      reservation?.undo();
      return this.#room.enter(waiter, blocking);
    }
    this.#queue.check(slot.keyId);
    if (waiter.blocking !== null) this.#room.leave(waiter);
    const counted = reservation ?? (holders.length > 0 ? exact?.assumeAdmitted(holders) : null) ?? null;
    admission.reserve(tokens.total, counted, budgets.reserve(asking.key, cost));
    this.#queue.enter(slot);
  }

  async #countExactly(exact: Pick<ExactCounts, "reserve">, counting: Counting): Promise<void> {
    const { asking, admission, holders, tokens, waiter } = counting;
    const answer = await exact.reserve(holders, tokens.total, tokens.input);
    const reservation = answer && "undo" in answer ? answer : null;
    // The request ended while Valkey decided.
    if (admission.isOver) return reservation?.undo();
    admission.exactUse = answer && answer.used;
    try {
      if (answer && "error" in answer) {
        const { error, waitsFor } = answer;
        if (waitsFor === null) throw error;
        return this.#room.enter(waiter, { line: tokenLine(waitsFor.id), refusal: () => error });
      }
      this.#count(counting, reservation);
    } catch (error) {
      reservation?.undo();
      asking.fail(toGatewayError(error));
    }
  }

  /** Finds a holder whose tokens other requests already wait for. */
  #findLine(counting: Counting): Blocking | null {
    if (this.#room.isEmpty) return null;
    const { holders, waiter } = counting;
    const late = holders.find(
      ({ id, tokensPerMinute }) => tokensPerMinute > 0 && this.#room.hasAhead(tokenLine(id), waiter),
    );
    return late ? this.#tokenBlocking(counting, late) : null;
  }

  #findBudget({ asking, cost, waiter }: Counting): Blocking | null {
    return this.#options.budgets.findBlocking(asking.key, cost, (line) => this.#room.hasAhead(line, waiter));
  }

  #tokenBlocking({ tokens }: Counting, holder: HolderLimits): Blocking {
    const { now } = this.#options;
    return { line: tokenLine(holder.id), refusal: () => refusalOfTokens(holder, tokens, now()) };
  }

  #wake(key: LimitedKey, holders: readonly HolderLimits[]): void {
    if (this.#room.isEmpty) return;
    for (const { id } of holders) this.#room.wake(tokenLine(id));
    for (const line of this.#options.budgets.linesOf(key)) this.#room.wake(line);
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

  /** Requests that wait for others to return what they reserved. */
  get waitingRequests(): number {
    return this.#room.size;
  }

  get meters(): ReadonlyMap<string, Meter> {
    return this.#meters;
  }

  /** Drops unused meters, once their use is shared. */
  sweep(): void {
    this.#holders.sweep();
    const second = Math.floor(this.#options.now() / 1000);
    for (const [id, meter] of this.#meters) {
      if (meter.unsharedFrom === null && meter.isIdle(second)) this.#meters.delete(id);
    }
  }
}

type LimitStatus = {
  requestsInMinute: number;
  tokensInMinute: number;
  concurrentRequests: number;
};

/** A request as the limiter sees it. */
type Asking = {
  readonly key: LimitedKey;
  /** Runs before the decision, because a rejected request has an admission too. */
  admitting(admission: Admission): void;
  fail(error: GatewayError): void;
};

/** The part of `Budgets` that the limiter uses. Costs are in nano-dollars. */
type LimitingBudgets = {
  applyTo(key: LimitedKey): boolean;
  check(key: LimitedKey): void;
  findBlocking(key: LimitedKey, cost: number, mustWait: (line: string) => boolean): Blocking | null;
  reserve(key: LimitedKey, cost: number): (() => void) | null;
  linesOf(key: LimitedKey): string[];
  spend(key: LimitedKey, record: UsageRecord): void;
};

/** A request and what it needs, until it is admitted or refused. */
type Counting = {
  asking: Asking;
  admission: Admission;
  holders: readonly HolderLimits[];
  tokens: TokenEstimate;
  /** The probable cost in nano-dollars. 0 without a budget or a price. */
  cost: number;
  slot: QueueSlot;
  waiter: Waiter;
};

/** A queued request has no caller that catches its error. */
function startSafely(asking: Asking, start: () => void): void {
  try {
    start();
  } catch (error) {
    asking.fail(toGatewayError(error));
  }
}

/** English prose and JSON have about four bytes per token. The real count follows when the request ends. */
function estimateTokens(bodyBytes: number): number {
  return Math.ceil(bodyBytes / 4);
}

/** The name of the line in which requests wait for a holder's tokens. */
const tokenLine = (id: string): string => `tokens ${id}`;

/** The holders whose rates apply to a key, with their meters. */
class LimitHolders {
  readonly #meters: Map<string, Meter>;
  readonly #inForce: LimitsInForce;
  /** The limit holders of recently used keys, by the limits that they were built from. */
  #cached = new WeakMap<KeyLimits, readonly HolderLimits[]>();

  constructor(meters: Map<string, Meter>, inForce: LimitsInForce) {
    this.#meters = meters;
    this.#inForce = inForce;
  }

  of(key: LimitedKey): readonly HolderLimits[] {
    const limits = this.#inForce.of(key);
    let holders = this.#cached.get(limits);
    if (!holders) this.#cached.set(limits, (holders = this.#listHolders(limits)));
    return holders;
  }

  #listHolders({ all }: KeyLimits): HolderLimits[] {
    return all.flatMap(({ holder: { kind }, id, limits }) => {
      const { requestsPerMinute, tokensPerMinute, concurrentRequests } = limits;
      if (requestsPerMinute === 0 && tokensPerMinute === 0 && concurrentRequests === 0) return [];
      let meter = this.#meters.get(id);
      if (!meter) this.#meters.set(id, (meter = new Meter()));
      return { id, holder: kind, meter, requestsPerMinute, tokensPerMinute, concurrentRequests };
    });
  }

  /** Cached holders would keep removed meters. */
  sweep(): void {
    this.#cached = new WeakMap();
    this.#inForce.sweep();
  }
}

/** The average use of a key's recent requests. */
type Usual = {
  outputTokens: number;
  /** The share of input tokens that came from the provider's cache, from 0 to 1. */
  cachedShare: number;
};

/** The averages of recently used keys, for the estimate of a request's output and cost. */
class UsualUse {
  /** The least recently used key comes first. */
  readonly #keys = new Map<string, Usual>();

  of(keyId: string): Readonly<Usual> {
    return this.#keys.get(keyId) ?? firstGuess;
  }

  /** Failed requests do not count, because their answers have no length. */
  learn(keyId: string, { status, inputTokens, outputTokens, cachedInputTokens }: LearnedRecord): void {
    if (status !== "SUCCEEDED" || outputTokens === null) return;
    const before = this.#keys.get(keyId);
    const cachedShare = inputTokens ? Math.min(1, (cachedInputTokens ?? 0) / inputTokens) : 0;
    this.#keys.delete(keyId);
    this.#keys.set(
      keyId,
      before ? mix(before, { outputTokens, cachedShare }) : { outputTokens, cachedShare },
    );
    if (this.#keys.size <= keysMax) return;
    const [oldest] = this.#keys.keys();
    if (oldest !== undefined) this.#keys.delete(oldest);
  }
}

type LearnedRecord = Pick<UsageRecord, "status" | "inputTokens" | "outputTokens" | "cachedInputTokens">;

function mix(before: Usual, now: Usual): Usual {
  return {
    outputTokens: before.outputTokens + (now.outputTokens - before.outputTokens) * newestShare,
    cachedShare: before.cachedShare + (now.cachedShare - before.cachedShare) * newestShare,
  };
}

/** Coding tools usually receive about this many tokens per request. */
const firstGuess: Usual = { outputTokens: 500, cachedShare: 0 };
/** The weight of the newest request, so that about ten requests count. */
const newestShare = 0.2;
const keysMax = 10_000;

/** The known properties of a request before its answer. */
export type Demand = Readonly<{
  prices: Prices;
  inputTokens: number;
  /** The maximum that the client allows. Null without a maximum. */
  outputTokensMax: number | null;
}>;

/** The probable cost in nano-dollars, counted as budgets count it. 0 for an unpriced model. */
function estimateCost({ prices, inputTokens }: Demand, usual: Usual, now: number): number {
  const usage = {
    inputTokens,
    outputTokens: usual.outputTokens,
    cachedInputTokens: Math.round(inputTokens * usual.cachedShare),
    cacheWriteInputTokens: null,
    reasoningTokens: null,
  };
  const billing = { costSource: null, chargeFactor: 1, at: new Date(now) };
  const { cost, costDetails } = toCost(prices, usage, billing);
  return cost ?? costDetails?.least ?? 0;
}
