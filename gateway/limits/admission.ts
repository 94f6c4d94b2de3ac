import type { UsageRecord } from "../usage/record-format.ts";
import { rateLimitHeaders } from "./rate-limit-headers.ts";
import type { Scope } from "./scope.ts";

type AdmissionOptions = {
  scopes: readonly Scope[];
  now: () => number;
  /** The cost of a request that is over, and when it began. */
  spend: (record: UsageRecord) => void;
  /** Makes room for whoever waits. */
  leave: () => void;
};

/** A request's place within its limits: it is taken once, and given back once. */
export class Admission {
  readonly #options: AdmissionOptions;
  #startedIn = 0;
  #estimate = 0;
  #isTaken = false;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** @param estimate how many tokens the request is thought to have */
  take(estimate: number): void {
    this.#isTaken = true;
    this.#estimate = estimate;
    this.#startedIn = this.#second();
    for (const { meter } of this.#options.scopes) meter.addRequest(this.#startedIn, estimate);
  }

  /** The request is over; nothing has been used by one that was refused. */
  end(record: UsageRecord): void {
    if (!this.#isTaken) return;
    this.#isTaken = false;
    const tokens = (record.inputTokens ?? 0) + (record.outputTokens ?? 0);
    for (const { meter } of this.#options.scopes) {
      meter.concurrent--;
      meter.correctTokens(this.#second(), this.#startedIn, tokens - this.#estimate);
    }
    if (record.cost !== null) this.#options.spend(record);
    this.#options.leave();
  }

  /** `x-ratelimit-*`, as it is now. */
  headers(): string[] {
    const { scopes, now } = this.#options;
    return scopes.length === 0 ? [] : rateLimitHeaders(scopes, now());
  }

  #second(): number {
    return Math.floor(this.#options.now() / 1000);
  }
}
