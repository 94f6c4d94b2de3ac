import type { ErrorReason } from "../errors.ts";

/** The current cool-downs. Each credential of a provider cools down separately. */
export class CoolDowns {
  readonly #now: () => number;
  readonly #current = new Map<string, CoolDown & { providerName: string }>();

  /** @param now milliseconds since 1970 */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Milliseconds until the candidate may be called again. 0 if it may be called now. */
  leftMs(candidate: CoolingCandidate): number {
    if (this.#current.size === 0) return 0;
    const coolDown = this.#current.get(nameOf(candidate));
    return coolDown === undefined ? 0 : Math.max(0, coolDown.until - this.#now());
  }

  /** Returns null for a candidate that may be called. */
  find(candidate: CoolingCandidate): CoolDown | null {
    return this.leftMs(candidate) === 0 ? null : (this.#current.get(nameOf(candidate)) ?? null);
  }

  /** Returns one provider name per cooling credential, so names can repeat. */
  coolingProviders(): string[] {
    const now = this.#now();
    const cooling = [...this.#current.values()].filter(({ until }) => until > now);
    return cooling.map(({ providerName }) => providerName);
  }

  /** Never shortens an existing cool-down. */
  start(candidate: CoolingCandidate & { providerName: string }, ms: number, why: CoolDownCause): void {
    const now = this.#now();
    for (const [name, { until }] of this.#current) if (until <= now) this.#current.delete(name);
    const name = nameOf(candidate);
    const { since = now, until = 0 } = this.#current.get(name) ?? {};
    const { providerName } = candidate;
    this.#current.set(name, { since, until: Math.max(until, now + ms), ...why, providerName });
  }
}

/** `since` and `until` are milliseconds since 1970. */
export type CoolDown = Readonly<{ since: number; until: number } & CoolDownCause>;

/** The code is a `GatewayError` code or `http_<status>`. The reason may be more specific. */
export type CoolDownCause = Readonly<{ code: string; reason: ErrorReason | null }>;

type CoolingCandidate = { providerId: string; credentialId: string | null };

function nameOf({ providerId, credentialId }: CoolingCandidate): string {
  return `${providerId} ${credentialId ?? ""}`;
}

/**
 * Limits retries to a share of all requests, because retries can overload a failing upstream. A small reserve lets a
 * quiet gateway retry.
 */
export class RetryBudget {
  readonly #share: number;
  #left = reserveRetries;

  /** @param percent retries per hundred requests */
  constructor(percent: number) {
    this.#share = percent / 100;
  }

  noteRequest(): void {
    this.#left = Math.min(retriesMax, this.#left + this.#share);
  }

  get hasOne(): boolean {
    return this.#left >= 1;
  }

  spend(): void {
    this.#left -= 1;
  }
}

const reserveRetries = 10;
const retriesMax = 100;
