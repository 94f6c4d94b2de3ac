type AttemptCounterOptions = { now: () => number; attemptsMax: number; windowMs: number; keysMax: number };

/** Counts attempts by key, in a window that begins with the key's first one. Drops the oldest key where there are too many. */
export class AttemptCounter {
  readonly #now: () => number;
  readonly #attemptsMax: number;
  readonly #windowMs: number;
  readonly #keysMax: number;
  /** The oldest window first, as each lasts as long as any other. */
  readonly #windows = new Map<string, { attempts: number; endsAt: number }>();

  constructor({ now, attemptsMax, windowMs, keysMax }: AttemptCounterOptions) {
    this.#attemptsMax = attemptsMax;
    this.#now = now;
    this.#windowMs = windowMs;
    this.#keysMax = keysMax;
  }

  /** How long the key has to wait for its next attempt; 0 = not at all. */
  waitMs(key: string): number {
    this.#deleteEnded();
    const window = this.#windows.get(key);
    return window && window.attempts >= this.#attemptsMax ? window.endsAt - this.#now() : 0;
  }

  /** Returns the key's attempts in its window, this one included. */
  add(key: string): number {
    this.#deleteEnded();
    const window = this.#windows.get(key);
    if (window) return ++window.attempts;
    const [oldest] = this.#windows.keys();
    if (oldest !== undefined && this.#windows.size >= this.#keysMax) this.#windows.delete(oldest);
    this.#windows.set(key, { attempts: 1, endsAt: this.#now() + this.#windowMs });
    return 1;
  }

  subtract(key: string, attempts: number): void {
    const window = this.#windows.get(key);
    if (window && (window.attempts -= attempts) <= 0) this.#windows.delete(key);
  }

  /** Returns how many attempts are forgotten. */
  delete(key: string): number {
    const attempts = this.#windows.get(key)?.attempts ?? 0;
    this.#windows.delete(key);
    return attempts;
  }

  #deleteEnded(): void {
    const now = this.#now();
    for (const [key, { endsAt }] of this.#windows) {
      if (endsAt > now) return;
      this.#windows.delete(key);
    }
  }
}
