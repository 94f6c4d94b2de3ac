/** The current use of a key, a user or the gateway. */
export class Meter {
  readonly requests = new SlidingMinute();
  readonly tokens = new SlidingMinute();
  /** The part of `tokens` that requests in flight reserve in this process. */
  readonly reserved = new SlidingMinute();
  /** Requests in flight in this process. */
  concurrent = 0;
  /** The first second whose use is not shared with other processes. Null if all use is shared. */
  unsharedFrom: number | null = null;

  addRequest(second: number, tokens: number): void {
    this.requests.add(second, 1);
    this.tokens.add(second, tokens);
    this.reserved.add(second, tokens);
    this.concurrent++;
    this.#changed(second);
  }

  /** Subtracts a request that did not start, in the second of its reservation. */
  removeRequest(second: number, startedIn: number, tokens: number): void {
    this.requests.add(second, -1, startedIn);
    this.tokens.add(second, -tokens, startedIn);
    this.reserved.add(second, -tokens, startedIn);
    this.#changed(startedIn);
  }

  /**
   * Ends a reservation with the actual use.
   * @param more the actual tokens minus the estimate. A surplus is subtracted in the second of the reservation. A
   * shortfall counts now.
   */
  settleTokens(second: number, { startedIn, estimate, more }: TokenSettlement): void {
    this.reserved.add(second, -estimate, startedIn);
    if (more === 0) return;
    const at = more < 0 ? startedIn : second;
    this.tokens.add(second, more, at);
    this.#changed(at);
  }

  isIdle(second: number): boolean {
    return this.concurrent === 0 && this.requests.used(second) === 0 && this.tokens.used(second) === 0;
  }

  #changed(at: number): void {
    if (this.unsharedFrom === null || at < this.unsharedFrom) this.unsharedFrom = at;
  }
}

type TokenSettlement = { startedIn: number; estimate: number; more: number };

/**
 * The use in the current second and the 59 before it, in all processes as far as known. A token bucket could
 * admit twice the limit in a minute.
 */
export class SlidingMinute {
  readonly #own = new Float64Array(secondsPerMinute);
  readonly #others = new Float64Array(secondsPerMinute);
  #second = 0;
  #sum = 0;

  /**
   * @param second Unix time in seconds. If the clock went back by up to a minute, the latest second applies. The
   * minute restarts if the clock went back further.
   */
  used(second: number): number {
    this.#advance(second);
    return this.#sum;
  }

  ownUsed(second: number): number {
    this.#advance(second);
    return this.#own.reduce((sum, amount) => sum + amount, 0);
  }

  ownAt(at: number): number {
    return this.#holds(at) ? (this.#own[at % secondsPerMinute] ?? 0) : 0;
  }

  /** Adds a positive or negative amount to the second `at`. Ignores seconds outside the minute. */
  add(second: number, amount: number, at = second): void {
    this.#advance(second);
    const into = at === second ? this.#second : at;
    if (this.#holds(into)) this.#change(this.#own, into, amount);
  }

  /** Replaces the use of all other processes in the second `at`. */
  setOthers(second: number, at: number, amount: number): void {
    this.#advance(second);
    if (this.#holds(at)) this.#change(this.#others, at, amount - (this.#others[at % secondsPerMinute] ?? 0));
  }

  /** The first second, from now on, in which `used` is at most `most` without further use. */
  freeAt(second: number, most: number): number {
    this.#advance(second);
    // Response headers pass 0 for `most`, so a search from the newest second usually ends at once.
    let kept = 0;
    let at = this.#second;
    while (at > this.#second - secondsPerMinute && kept + this.#at(at) <= most) kept += this.#at(at--);
    return Math.max(this.#second, at + secondsPerMinute);
  }

  #at(at: number): number {
    const index = at % secondsPerMinute;
    return (this.#own[index] ?? 0) + (this.#others[index] ?? 0);
  }

  #holds(at: number): boolean {
    return at <= this.#second && at > this.#second - secondsPerMinute && at >= 0;
  }

  /** A second never becomes negative, because a restart drops reservations that are settled later. */
  #change(amounts: Float64Array, at: number, amount: number): void {
    const index = at % secondsPerMinute;
    const before = amounts[index] ?? 0;
    amounts[index] = Math.max(0, before + amount);
    this.#sum += (amounts[index] ?? 0) - before;
  }

  #advance(second: number): void {
    if (second < this.#second - secondsPerMinute) this.#restart();
    if (second <= this.#second) return;
    const from = Math.max(this.#second + 1, second - secondsPerMinute + 1);
    for (let at = from; at <= second; at++) {
      this.#sum -= this.#at(at);
      this.#own[at % secondsPerMinute] = 0;
      this.#others[at % secondsPerMinute] = 0;
    }
    this.#second = second;
  }

  #restart(): void {
    this.#own.fill(0);
    this.#others.fill(0);
    this.#sum = 0;
    this.#second = 0;
  }
}

export const secondsPerMinute = 60;
