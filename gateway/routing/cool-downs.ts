import type { ErrorReason } from "../errors.ts";

/** Which credentials of which providers had better be left alone for a while, until when, and why. */
export class CoolDowns {
  readonly #now: () => number;
  readonly #current = new Map<string, CoolDown & { providerName: string }>();

  /** @param now milliseconds on a clock that only goes forward */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Milliseconds until the way may be taken again; 0 when it may be now. */
  leftMs(candidate: CooledWay): number {
    if (this.#current.size === 0) return 0;
    const coolDown = this.#current.get(nameOf(candidate));
    return coolDown === undefined ? 0 : Math.max(0, coolDown.until - this.#now());
  }

  /** Null when the way may be taken. */
  find(candidate: CooledWay): CoolDown | null {
    return this.leftMs(candidate) === 0 ? null : (this.#current.get(nameOf(candidate)) ?? null);
  }

  /** The name of the provider of each way that is left alone now. */
  coolingProviders(): string[] {
    const now = this.#now();
    const cooling = [...this.#current.values()].filter(({ until }) => until > now);
    return cooling.map(({ providerName }) => providerName);
  }

  /** Never shortens a cool-down that is on already. */
  start(candidate: CooledWay & { providerName: string }, ms: number, why: CoolDownCause): void {
    const now = this.#now();
    for (const [name, { until }] of this.#current) if (until <= now) this.#current.delete(name);
    const name = nameOf(candidate);
    const { since = now, until = 0 } = this.#current.get(name) ?? {};
    const { providerName } = candidate;
    this.#current.set(name, { since, until: Math.max(until, now + ms), ...why, providerName });
  }
}

/** Both in milliseconds of the clock. */
export type CoolDown = Readonly<{ since: number; until: number } & CoolDownCause>;

/** The code is an error's, or `http_` and a status; the reason says it more exactly. */
export type CoolDownCause = Readonly<{ code: string; reason: ErrorReason | null }>;

type CooledWay = { providerId: string; credentialId: string | null };

function nameOf({ providerId, credentialId }: CooledWay): string {
  return `${providerId} ${credentialId ?? ""}`;
}

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
