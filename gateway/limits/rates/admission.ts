import type { UsageRecord } from "../../usage/recording/segment.ts";
import { addRateLimitHeaders } from "./rate-limit-headers.ts";
import type { ExactPlace, HolderLimits, HolderUse } from "./holder-limits.ts";
import { GatewayError } from "../../errors.ts";

type AdmissionOptions = {
  holders: readonly HolderLimits[];
  now: () => number;
  /** The cost of a request that is over, and when it began. */
  spend: (record: UsageRecord) => void;
  /** Whether the request has not begun, because the process has no room for it. */
  isWaiting: () => boolean;
  /** Makes room for whoever waits. */
  leave: () => void;
};

/** A request's place within its limits: it is taken once, and given back once. */
export class Admission {
  readonly #options: AdmissionOptions;
  #startedIn = 0;
  #estimate = 0;
  #isTaken = false;
  #isOver = false;
  #exact: ExactPlace | null = null;
  /** What each holder uses, by Valkey; null where it was not asked. */
  exactUse: HolderUse[] | null = null;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Whether the client has left while it was decided whether it is let in. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * @param estimate how many tokens the request is thought to have
   * @param exact what was counted for it in Valkey, too
   */
  take(estimate: number, exact: ExactPlace | null = null): void {
    this.#isTaken = true;
    this.#exact = exact;
    this.#estimate = estimate;
    this.#startedIn = this.#second();
    for (const { meter } of this.#options.holders) meter.addRequest(this.#startedIn, estimate);
  }

  /** The request is over; nothing has been used by one that was refused, at once or after it waited. */
  end(record: UsageRecord): void {
    this.#isOver = true;
    if (!this.#isTaken) return;
    this.#isTaken = false;
    if (this.#options.isWaiting()) this.#undo();
    else this.#settle(record);
    if (record.cost !== null) this.#options.spend(record);
    this.#options.leave();
  }

  /** Adds `x-ratelimit-*`, as it is now, to names and values in turn; returns them. */
  addHeaders(headers: string[]): string[] {
    const { holders } = this.#options;
    if (holders.length > 0) addRateLimitHeaders(headers, holders, this.#second(), this.exactUse);
    return headers;
  }

  #settle(record: UsageRecord): void {
    const more = (record.inputTokens ?? 0) + (record.outputTokens ?? 0) - this.#estimate;
    const second = this.#second();
    for (const { meter } of this.#options.holders) {
      meter.concurrent--;
      meter.correctTokens(second, this.#startedIn, more);
    }
    this.#exact?.end(more);
    if (this.exactUse) for (const use of this.exactUse) use.tokens += more;
  }

  /** It waited in vain, or left before its turn: it was not made. */
  #undo(): void {
    const second = this.#second();
    for (const { meter } of this.#options.holders) {
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

/** A request that is under way, or waits until it may be. */
export type Place = {
  readonly keyId: string;
  readonly start: () => void;
  /** It has waited too long. */
  readonly refuse: (error: GatewayError) => void;
  state: "new" | "waiting" | "running" | "left";
  timer?: NodeJS.Timeout;
};

type FairQueueOptions = {
  /** Requests under way; 0 = as many as come. */
  concurrentRequestsMax: number;
  queuedRequestsPerKeyMax: number;
  queueWaitMsMax: number;
};

/**
 * Keeps a process within its capacity. What is too much waits a little, each key's requests in a queue of their own; the
 * keys take turns, so that one that asks for much waits for itself and not the others for it.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  /** By key, whose turn is next first. */
  readonly #waiting = new Map<string, Place[]>();
  #running = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /** Throws `service_unavailable` when the key has as many requests waiting as it may. */
  check(keyId: string): void {
    const { concurrentRequestsMax, queuedRequestsPerKeyMax } = this.#options;
    if (concurrentRequestsMax === 0 || this.#running < concurrentRequestsMax) return;
    if ((this.#waiting.get(keyId)?.length ?? 0) >= queuedRequestsPerKeyMax) throw overCapacity();
  }

  /** Starts the request, now or when it is its turn. */
  enter(place: Place): void {
    const { concurrentRequestsMax, queueWaitMsMax } = this.#options;
    if (concurrentRequestsMax === 0 || this.#running < concurrentRequestsMax) return this.#start(place);
    place.state = "waiting";
    place.timer = setTimeout(() => place.refuse(overCapacity()), queueWaitMsMax);
    const queue = this.#waiting.get(place.keyId);
    if (queue) queue.push(place);
    else this.#waiting.set(place.keyId, [place]);
  }

  /** The request is over, or does not want to wait any more. */
  leave(place: Place): void {
    const { state } = place;
    place.state = "left";
    clearTimeout(place.timer);
    if (state === "waiting") this.#remove(place);
    if (state !== "running") return;
    this.#running--;
    this.#startNext();
  }

  #start(place: Place): void {
    clearTimeout(place.timer);
    this.#running++;
    place.state = "running";
    place.start();
  }

  #startNext(): void {
    const [next] = this.#waiting;
    if (!next) return;
    const [keyId, queue] = next;
    const place = queue.shift();
    // To the end of the line of keys.
    this.#waiting.delete(keyId);
    if (queue.length > 0) this.#waiting.set(keyId, queue);
    if (place) this.#start(place);
  }

  #remove(place: Place): void {
    const queue = this.#waiting.get(place.keyId) ?? [];
    queue.splice(queue.indexOf(place), 1);
    if (queue.length === 0) this.#waiting.delete(place.keyId);
  }
}

function overCapacity(): GatewayError {
  const message = "The gateway has as many requests under way as it can take. Try again in a moment.";
  return new GatewayError("service_unavailable", message, { retryAfterSeconds: 1 });
}
