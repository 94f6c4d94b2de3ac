import { SlidingMinute } from "./sliding-minute.ts";

/** What one key, one person or the whole gateway uses now. */
export class Meter {
  readonly requests = new SlidingMinute();
  readonly tokens = new SlidingMinute();
  /** Requests under way, in this process. */
  concurrent = 0;
  /** The first second whose use has not been told to other processes; null when all has. */
  untoldFrom: number | null = null;

  addRequest(second: number, tokens: number): void {
    this.requests.add(second, 1);
    this.tokens.add(second, tokens);
    this.concurrent++;
    this.#changed(second);
  }

  /** A request was not made after all: gives back what was taken for it, where it was taken. */
  removeRequest(second: number, startedIn: number, tokens: number): void {
    this.requests.add(second, -1, startedIn);
    this.tokens.add(second, -tokens, startedIn);
    this.#changed(startedIn);
  }

  /**
   * Puts right what a request was thought to use. What is too much is given back where it was taken; what is missing is
   * used now.
   */
  correctTokens(second: number, startedIn: number, tokens: number): void {
    if (tokens === 0) return;
    const at = tokens < 0 ? startedIn : second;
    this.tokens.add(second, tokens, at);
    this.#changed(at);
  }

  /** Whether forgetting it would change nothing. */
  isIdle(second: number): boolean {
    return this.concurrent === 0 && this.requests.used(second) === 0 && this.tokens.used(second) === 0;
  }

  #changed(at: number): void {
    if (this.untoldFrom === null || at < this.untoldFrom) this.untoldFrom = at;
  }
}
