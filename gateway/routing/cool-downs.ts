import type { ErrorReason } from "../errors.ts";
import type { Runtime } from "../runtime.ts";

/**
 * The current cool-downs. Each credential of a provider cools down separately. An overload or a rate limit concerns
 * one model, so a fallback on the same provider remains usable.
 */
export class CoolDowns {
  readonly #runtime: Clocks;
  /** Their times are those of the monotonic clock. */
  readonly #current = new Map<string, CoolDown & { credential: string; providerName: string }>();

  constructor(runtime: Clocks) {
    this.#runtime = runtime;
  }

  /** Milliseconds until the candidate may be called again. 0 if it may be called now. */
  leftMs(candidate: CoolingCandidate): number {
    if (this.#current.size === 0) return 0;
    const ends = [credentialOf(candidate), modelOf(candidate)].map(
      (name) => this.#current.get(name)?.until ?? 0,
    );
    return Math.max(0, ...ends.map((end) => end - this.#runtime.monotonicNow()));
  }

  /** The credential's cool-down, or the longest one of its models. Null if none of them cools down. */
  find(credential: CoolingCredential): CoolDown | null {
    const name = credentialOf(credential);
    const longestFirst = this.#cooling()
      .filter((coolDown) => coolDown.credential === name)
      .toSorted((one, other) => other.until - one.until);
    const [longest] = longestFirst;
    if (!longest) return null;
    const { since, until, code, reason } = longest;
    const aheadMs = this.#runtime.now() - this.#runtime.monotonicNow();
    return { since: since + aheadMs, until: until + aheadMs, code, reason };
  }

  /** Returns one provider name per cooling credential, so names can repeat. */
  coolingProviders(): string[] {
    const cooling = new Map(this.#cooling().map((coolDown) => [coolDown.credential, coolDown.providerName]));
    return [...cooling.values()];
  }

  /** Never shortens an existing cool-down. */
  start(candidate: CoolingCandidate & { providerName: string }, ms: number, why: CoolDownCause): void {
    // Providers also return 403 for a prompt that they reject, which must not divert other requests.
    if (why.code === "http_403") return;
    const now = this.#runtime.monotonicNow();
    for (const [name, { until }] of this.#current) if (until <= now) this.#current.delete(name);
    const name = codesOfModels.has(why.code) ? modelOf(candidate) : credentialOf(candidate);
    const { since = now, until = 0 } = this.#current.get(name) ?? {};
    const { providerName } = candidate;
    const credential = credentialOf(candidate);
    this.#current.set(name, { since, until: Math.max(until, now + ms), ...why, credential, providerName });
  }

  #cooling() {
    const now = this.#runtime.monotonicNow();
    return [...this.#current.values()].filter(({ until }) => until > now);
  }
}

/** Rate limited (429), unavailable (503), overloaded (529, Anthropic). */
const codesOfModels: ReadonlySet<string> = new Set(["http_429", "http_503", "http_529"]);

type Clocks = Pick<Runtime, "now" | "monotonicNow">;

/** `since` and `until` are milliseconds since 1970. */
export type CoolDown = Readonly<{ since: number; until: number } & CoolDownCause>;

/** The code is a `GatewayError` code or `http_<status>`. The reason may be more specific. */
export type CoolDownCause = Readonly<{ code: string; reason: ErrorReason | null }>;

type CoolingCredential = { providerId: string; credentialId: string | null };

type CoolingCandidate = CoolingCredential & { upstreamModel: { name: string } };

function credentialOf({ providerId, credentialId }: CoolingCredential): string {
  return `${providerId} ${credentialId ?? ""}`;
}

function modelOf(candidate: CoolingCandidate): string {
  return `${credentialOf(candidate)} ${candidate.upstreamModel.name}`;
}

/** Limits retries to a share of requests, to spare a failing upstream. A small reserve lets a quiet gateway retry. */
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
