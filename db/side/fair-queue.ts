import { DatabaseUnavailableError } from "../database-errors.ts";

type FairQueueLimits = { waitingMax: number; perPersonMax: number };

/** Runs one work at a time. People take turns, so that one person's many questions delay others by one at most. */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  readonly #waiting = new Map<string, (() => Promise<unknown>)[]>();
  #waitingCount = 0;
  #isBusy = false;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /** Throws a `DatabaseUnavailableError` if too many wait. */
  run<Result>(asker: string, work: () => Promise<Result>): Promise<Result> {
    const own = this.#waiting.get(asker) ?? [];
    const { waitingMax, perPersonMax } = this.#limits;
    if (own.length >= perPersonMax || this.#waitingCount >= waitingMax) {
      throw new DatabaseUnavailableError("Too many questions wait for the database. Retry in a moment.");
    }
    return new Promise((resolve, reject) => {
      own.push(() => work().then(resolve, reject));
      this.#waiting.set(asker, own);
      this.#waitingCount++;
      void this.#takeTurns();
    });
  }

  async #takeTurns(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (const [asker, own] of this.#rounds()) {
      const next = own.shift();
      this.#waitingCount--;
      this.#waiting.delete(asker);
      // The person goes to the end of the line.
      if (own.length > 0) this.#waiting.set(asker, own);
      await next?.();
    }
    this.#isBusy = false;
  }

  *#rounds() {
    for (let first = this.#waiting.entries().next(); !first.done; first = this.#waiting.entries().next()) {
      yield first.value;
    }
  }
}
