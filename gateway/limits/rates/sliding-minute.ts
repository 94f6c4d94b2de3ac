/**
 * The use of the last minute: the current second and the 59 before it. Sixty counters are exact, but a token
 * bucket admits twice the limit after a pause. The use of other processes follows their publication.
 */
export class SlidingMinute {
  readonly #own = new Float64Array(secondsPerMinute);
  readonly #others = new Float64Array(secondsPerMinute);
  #second = 0;
  #sum = 0;

  /** @param second since 1970. Time that runs backwards stands still. */
  used(second: number): number {
    this.#advance(second);
    return this.#sum;
  }

  /** This process's use of the minute. */
  ownUsed(second: number): number {
    this.#advance(second);
    return this.#own.reduce((sum, amount) => sum + amount, 0);
  }

  /** This process's use of one second. */
  ownAt(at: number): number {
    return this.#holds(at) ? (this.#own[at % secondsPerMinute] ?? 0) : 0;
  }

  /** Adds to a second, or subtracts. Ignores seconds older than a minute. */
  add(second: number, amount: number, at = second): void {
    this.#advance(second);
    const into = at === second ? this.#second : at;
    if (this.#holds(into)) this.#change(this.#own, into, amount);
  }

  /** Sets the latest known usage of all other processes in one second. */
  setOthers(second: number, at: number, amount: number): void {
    this.#advance(second);
    if (this.#holds(at)) this.#change(this.#others, at, amount - (this.#others[at % secondsPerMinute] ?? 0));
  }

  /** The first second, from now on, in which `used` is at most `most` without further use. */
  freeAt(second: number, most: number): number {
    this.#advance(second);
    // Searches from the newest second, because recent seconds usually decide.
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

  #change(amounts: Float64Array, at: number, amount: number): void {
    const index = at % secondsPerMinute;
    amounts[index] = (amounts[index] ?? 0) + amount;
    this.#sum += amount;
  }

  #advance(second: number): void {
    if (second <= this.#second) return;
    const from = Math.max(this.#second + 1, second - secondsPerMinute + 1);
    for (let at = from; at <= second; at++) {
      this.#sum -= this.#at(at);
      this.#own[at % secondsPerMinute] = 0;
      this.#others[at % secondsPerMinute] = 0;
    }
    this.#second = second;
  }
}

export const secondsPerMinute = 60;
