import type { UsageRecord } from "../../usage/recording/spool.ts";
import {
  type Reservation,
  type HolderLimits,
  type HolderUse,
  checkLimits,
  type ExactCounts,
} from "./holder-limits.ts";
import { GatewayError, toGatewayError } from "../../errors.ts";
import { secondsPerMinute, type SlidingMinute } from "./meter.ts";
import { Turns } from "./waiting-room.ts";

type AdmissionOptions = {
  holders: readonly HolderLimits[];
  now: () => number;
  /** Counts the actual cost and use. The reservations have not ended yet. */
  spend: (record: UsageRecord) => void;
  /** Whether the request is queued for capacity. */
  isWaiting: () => boolean;
  /** Frees the request's slot, or removes the request from its queue. */
  leave: () => void;
  /** Runs when the request has returned what it reserved. */
  returned: () => void;
};

/** A request's use of its limits. A rejected request has an admission too, which counts nothing. */
export class Admission {
  readonly #options: AdmissionOptions;
  /** They can change while the request waits, until `reserve`. */
  holders: readonly HolderLimits[];
  #startedIn = 0;
  #estimate = 0;
  #isTaken = false;
  #isOver = false;
  #exact: Reservation | null = null;
  #endCost: (() => void) | null = null;
  /** Each holder's use in all processes. Null without a response from Valkey. */
  exactUse: HolderUse[] | null = null;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.holders = options.holders;
  }

  /** Whether the request has ended, perhaps before Valkey's decision. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * @param exact reports the end of the request to Valkey. Null without Valkey or limits.
   * @param endCost ends the reservation of the request's cost. Null without budgets.
   */
  reserve(estimate: number, exact: Reservation | null, endCost: (() => void) | null): void {
    this.#isTaken = true;
    this.#exact = exact;
    this.#endCost = endCost;
    this.#estimate = estimate;
    this.#startedIn = this.#second();
    for (const { meter } of this.holders) meter.addRequest(this.#startedIn, estimate);
  }

  /** Settles or undoes the counts of `reserve`, which does not run for a rejected request. */
  end(record: UsageRecord): void {
    const { isWaiting, spend, leave, returned } = this.#options;
    this.#isOver = true;
    if (!this.#isTaken) return leave();
    this.#isTaken = false;
    if (isWaiting()) this.#undo();
    else this.#settle(record);
    spend(record);
    this.#endCost?.();
    leave();
    returned();
  }

  /** Adds the `x-ratelimit-*` headers to a list of alternating names and values, and returns the list. */
  addHeaders(headers: string[]): string[] {
    const { holders } = this;
    if (holders.length > 0) addRateLimitHeaders(headers, holders, this.#second(), this.exactUse);
    return headers;
  }

  #settle(record: UsageRecord): void {
    const more = (record.inputTokens ?? 0) + (record.outputTokens ?? 0) - this.#estimate;
    const second = this.#second();
    for (const { meter } of this.holders) {
      meter.concurrent--;
      meter.settleTokens(second, { startedIn: this.#startedIn, estimate: this.#estimate, more });
    }
    this.#exact?.end(more);
    if (this.exactUse) for (const use of this.exactUse) use.tokens += more;
  }

  #undo(): void {
    const second = this.#second();
    for (const { meter } of this.holders) {
      meter.concurrent--;
      meter.removeRequest(second, this.#startedIn, this.#estimate);
    }
    this.#exact?.undo();
    for (const use of this.exactUse ?? []) {
      use.requests--;
      use.tokens -= this.#estimate;
    }
  }

  #second(): number {
    return Math.floor(this.#options.now() / 1000);
  }
}

export type QueueSlot = {
  readonly keyId: string;
  readonly start: () => void;
  readonly refuse: (error: GatewayError) => void;
  state: "new" | "waiting" | "running" | "left";
  timer?: NodeJS.Timeout;
};

type FairQueueOptions = {
  /** 0 means no limit. */
  concurrentRequestsMax: number;
  queuedRequestsPerKeyMax: number;
  queueWaitMsMax: number;
};

/**
 * Keeps a process within its capacity. Excess requests wait in one queue per key. The keys take turns, so that
 * a busy key cannot block the others.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  readonly #waiting = new Turns<QueueSlot>();
  #running = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /** Throws `service_unavailable` if the key's queue is full. */
  check(keyId: string): void {
    const { concurrentRequestsMax, queuedRequestsPerKeyMax } = this.#options;
    if (concurrentRequestsMax === 0 || this.#running < concurrentRequestsMax) return;
    if (this.#waiting.countOf(keyId) >= queuedRequestsPerKeyMax) throw overCapacity();
  }

  enter(slot: QueueSlot): void {
    const { concurrentRequestsMax, queueWaitMsMax } = this.#options;
    if (concurrentRequestsMax === 0 || this.#running < concurrentRequestsMax) return this.#start(slot);
    slot.state = "waiting";
    slot.timer = setTimeout(() => slot.refuse(overCapacity()), queueWaitMsMax);
    this.#waiting.add(slot);
  }

  leave(slot: QueueSlot): void {
    const { state } = slot;
    slot.state = "left";
    clearTimeout(slot.timer);
    if (state === "waiting") this.#waiting.remove(slot);
    if (state !== "running") return;
    this.#running--;
    // Without a limit nobody waits.
    const next = this.#options.concurrentRequestsMax === 0 ? null : this.#waiting.shift();
    if (next) this.#start(next);
  }

  #start(slot: QueueSlot): void {
    clearTimeout(slot.timer);
    this.#running++;
    slot.state = "running";
    slot.start();
  }
}

function overCapacity(): GatewayError {
  const message = "The gateway is at capacity. Retry in a moment.";
  return new GatewayError("service_unavailable", message, { retryAfterSeconds: 1 });
}

/**
 * Adds OpenAI's `x-ratelimit-*` headers. The headers for requests and the headers for tokens each describe
 * the holder with the least remaining.
 * https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers
 * @param exactUse each holder's use in all processes, if known
 */
export function addRateLimitHeaders(
  headers: string[],
  holders: readonly HolderLimits[],
  second: number,
  exactUse: readonly HolderUse[] | null = null,
): void {
  for (const kind of kinds) {
    let least: { limit: number; left: number; minute: SlidingMinute } | null = null;
    for (let index = 0; index < holders.length; index++) {
      const holder = holders[index];
      const limit = kind === "requests" ? holder?.requestsPerMinute : holder?.tokensPerMinute;
      if (!holder || !limit) continue;
      const minute = holder.meter[kind];
      const used = exactUse?.[index]?.[kind] ?? minute.used(second);
      const left = Math.max(0, Math.floor(limit - used));
      if (least === null || left < least.left) least = { limit, left, minute };
    }
    if (least === null) continue;
    const { limit, remaining, reset } = names[kind];
    const seconds = least.minute.freeAt(second, 0) - second;
    // A clock that was set back can result in more than a minute.
    const resetIn = durations[seconds] ?? formatDuration(seconds);
    headers.push(limit, String(least.limit), remaining, String(least.left), reset, resetIn);
  }
}

/** A reset is usually 0 to 60 s away, so these texts are built once. */
const durations = Array.from({ length: secondsPerMinute + 1 }, (_, seconds) => formatDuration(seconds));
const kinds = ["requests", "tokens"] as const;
const names = { requests: namesOf("requests"), tokens: namesOf("tokens") };

function namesOf(kind: string) {
  return {
    limit: `x-ratelimit-limit-${kind}`,
    remaining: `x-ratelimit-remaining-${kind}`,
    reset: `x-ratelimit-reset-${kind}`,
  };
}

/** Whole seconds in the format of OpenAI's `x-ratelimit-reset-*` headers: `7s`, `1m0s`. */
export function formatDuration(seconds: number): string {
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

const noTokens = { input: 0, total: 0 };

type Counts = { now: () => number; sharedBy?: () => number; exact?: ExactCounts | null };

/** A rejected request has an admission too, for the headers of its response. */
export function admitNothing(holders: readonly HolderLimits[], now: () => number): Admission {
  const ignore = () => {};
  return new Admission({
    holders,
    now,
    spend: ignore,
    isWaiting: () => false,
    leave: ignore,
    returned: ignore,
  });
}

/** Throws the error of a limit that is exceeded already. Counts nothing. */
export function checkEarly(holders: readonly HolderLimits[], { now, sharedBy, exact }: Counts): void {
  for (const limits of holders) {
    try {
      checkLimits(limits, noTokens, now(), sharedBy?.());
    } catch (error) {
      // Valkey decides, and its clock may differ. Its counts include these.
      const isNear = (toGatewayError(error).retryAfterSeconds ?? 0) <= clockToleranceSeconds;
      if (!exact?.isThere || !isNear) throw error;
    }
  }
}

const clockToleranceSeconds = 2;

/**
 * Counts a request that calls no model: one request without tokens. Throws the error of an exceeded rate. Concurrent
 * requests do not matter, because no upstream works for the request.
 */
export async function countRequest(
  all: readonly HolderLimits[],
  { now, sharedBy, exact }: Counts,
): Promise<void> {
  if (all.length === 0) return;
  const holders = all.map((holder) => ({ ...holder, concurrentRequests: 0 }));
  const answer = exact?.isThere ? await exact.reserve(holders, 0) : null;
  if (answer && "error" in answer) throw answer.error;
  // Once Valkey's counts include the whole last minute, its decision is enough.
  const isDecided = answer !== null && exact?.knowsAll === true;
  try {
    if (!isDecided) for (const limits of holders) checkLimits(limits, noTokens, now(), sharedBy?.());
  } catch (error) {
    answer?.undo();
    throw error;
  }
  const second = Math.floor(now() / 1000);
  for (const { meter } of holders) {
    meter.addRequest(second, 0);
    meter.concurrent--;
  }
  answer?.end(0);
}
