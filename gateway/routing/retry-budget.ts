/**
 * How many requests may be tried again: a share of all requests, so that retries do not bury an upstream that is struggling
 * already. A few are always there, or a quiet gateway could never retry at all.
 */
export class RetryBudget {
  readonly #share: number;
  #left = reserveRetries;

  /** @param percent retries for each hundred requests */
  constructor(percent: number) {
    this.#share = percent / 100;
  }

  noteRequest(): void {
    this.#left = Math.min(retriesMax, this.#left + this.#share);
  }

  get hasOne(): boolean {
    return this.#left >= 1;
  }

  take(): void {
    this.#left -= 1;
  }
}

const reserveRetries = 10;
const retriesMax = 100;
