import type { UsageRecord } from "../../usage/recording/record-format.ts";
import { addRateLimitHeaders } from "./rate-limit-headers.ts";
import type { ExactPlace, HolderLimits, HolderUse } from "./holder-limits.ts";

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
