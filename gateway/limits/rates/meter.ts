import { SlidingMinute } from "./sliding-minute.ts";

/** The current use of a key, a user or the gateway. */
export class Meter {
  readonly requests = new SlidingMinute();
  readonly tokens = new SlidingMinute();
  /** Requests in flight in this process. */
  concurrent = 0;
  /** The first second whose use is not shared with other processes. Null if all use is shared. */
  unsharedFrom: number | null = null;

  addRequest(second: number, tokens: number): void {
    this.requests.add(second, 1);
    this.tokens.add(second, tokens);
    this.concurrent++;
    this.#changed(second);
  }

  /** Removes a request that did not start from the second of its reservation. */
  removeRequest(second: number, startedIn: number, tokens: number): void {
    this.requests.add(second, -1, startedIn);
    this.tokens.add(second, -tokens, startedIn);
    this.#changed(startedIn);
  }

  /** Corrects a request's estimate. A surplus is removed from its second, and a shortfall counts now. */
  correctTokens(second: number, startedIn: number, tokens: number): void {
    if (tokens === 0) return;
    const at = tokens < 0 ? startedIn : second;
    this.tokens.add(second, tokens, at);
    this.#changed(at);
  }

  /** Whether the meter can be removed without an effect. */
  isIdle(second: number): boolean {
    return this.concurrent === 0 && this.requests.used(second) === 0 && this.tokens.used(second) === 0;
  }

  #changed(at: number): void {
    if (this.unsharedFrom === null || at < this.unsharedFrom) this.unsharedFrom = at;
  }
}
