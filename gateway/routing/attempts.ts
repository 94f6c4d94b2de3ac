import type { GatewayError } from "../errors.ts";
import type { Candidate } from "./candidate.ts";
import type { CoolDownCause, CoolDowns, RetryBudget } from "./cool-downs.ts";
import { readRetryAfterMs } from "../upstream/read-retry-after.ts";
import type { UpstreamCall, UpstreamEvents, UpstreamHeaders } from "../upstream/upstream-call.ts";
import { isMediaType } from "../upstream/upstreams.ts";
import { GrowingBody } from "../wire/bytes.ts";
import { parseJson } from "../wire/json.ts";
import { readRetryInfoMs } from "../wire/retry-info.ts";

export type AttemptsOptions = {
  coolDowns: CoolDowns;
  retryBudget: RetryBudget;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  random: () => number;
  attemptsMax: number;
  coolDownMs: number;
  coolDownMsMax: number;
  retryWaitMsMax: number;
};

export type Attempt = {
  /** The names of the request's parts that the attempt drops, separated by commas. */
  dropped?: string | null;
  /** Receives the call's events, unless the call fails and another call follows. */
  events: UpstreamEvents;
  begin(events: UpstreamEvents): UpstreamCall;
};

type Caller = {
  /** Throws a `GatewayError` for a candidate that cannot serve the request. */
  prepare(candidate: Candidate): Attempt;
  /** Runs after a call that was not sent, or that the upstream rejected without processing. */
  refused(candidate: Candidate, why: CoolDownCause): void;
  /** Runs after an exception of the attempt's events, which would otherwise end the process. */
  failed(thrown: unknown): void;
};

/** One logical call. A retry or the next candidate follows only if no upstream processed the request. */
export class Attempts implements Omit<UpstreamCall, "wasSent">, UpstreamEvents {
  readonly #options: AttemptsOptions;
  readonly #groups: readonly (readonly Candidate[])[];
  readonly #caller: Caller;
  readonly #tried: Candidate[] = [];
  /** The IDs of providers that a call did not reach. Another credential would rarely help. */
  readonly #unreachable: string[] = [];
  /** The first error of `prepare`. */
  #refusal: unknown = null;
  #calls = 0;
  #candidate: Candidate | null = null;
  /** The current attempt's events. The attempt itself is not kept, because it contains the request's body. */
  #events: UpstreamEvents | null = null;
  #call: UpstreamCall | null = null;
  dropped: string | null = null;
  /** Whether a provider may have processed an earlier call. */
  #mayCost = false;
  #isRefused = false;
  #waiting: NodeJS.Timeout | undefined;
  #held: HeldRefusal | null = null;
  #isOver = false;

  constructor(options: AttemptsOptions, groups: readonly (readonly Candidate[])[], caller: Caller) {
    this.#options = options;
    this.#groups = groups;
    this.#caller = caller;
  }

  /** Throws the first error of `prepare` if no candidate can serve the request. */
  begin(): void {
    const { coolDowns, retryBudget } = this.#options;
    retryBudget.noteRequest();
    if (this.#takeNext()) return;
    // If every usable candidate is cooling down, the call uses the candidate whose cool-down ends first.
    if (this.#takeOneOf(() => selectSoonest(this.#groups, coolDowns, this.#isLeft))) return;
    if (this.#refusal) throw this.#refusal;
  }

  /** Whether a provider may charge for the request: at least one call was sent and not rejected. */
  get mayCost(): boolean {
    return this.#mayCost || (this.#call?.wasSent === true && !this.#isRefused);
  }

  pause(): void {
    this.#call?.pause();
  }

  resume(): void {
    this.#call?.resume();
  }

  abort(): void {
    this.#isOver = true;
    clearTimeout(this.#waiting);
    this.#held?.letGo();
    this.#call?.abort();
  }

  onHeaders(status: number, headers: UpstreamHeaders): void {
    this.#isRefused = status >= 400 && !proxyFailures.has(status);
    if (status !== 200 && refusals.has(status)) {
      this.#held = holdRefusal(status, headers, () => this.#release());
      if (this.#held) return;
      if (this.#retryAfterRefusal(status, readRetryAfterMs(headers))) return;
    }
    this.#pass((events) => events.onHeaders(status, headers));
  }

  onData(bytes: Buffer): void {
    if (this.#held) return this.#held.add(bytes);
    this.#pass((events) => events.onData(bytes));
  }

  onEnd(): void {
    if (this.#held && this.#release()) return;
    this.#pass((events) => events.onEnd());
  }

  onError(error: GatewayError, wasSent: boolean): void {
    if (this.#held && this.#release()) return;
    if (!wasSent && this.#retryElsewhere(error)) return;
    this.#pass((events) => events.onError(error, wasSent));
  }

  /**
   * Whether another call follows a response with status 200 without an answer. The upstream has ended such a
   * request, so every failure but a rejected request moves on.
   */
  divert({ withoutAnswer, retryAfterSeconds, code, reason }: GatewayError): boolean {
    const [candidate, status] = [this.#candidate, withoutAnswer?.status ?? null];
    this.#isRefused = status !== null && (status < 500 || refusals.has(status));
    if (candidate === null) return false;
    if (status !== null && refusals.has(status)) {
      return this.#retryAfterRefusal(status, retryAfterSeconds === null ? null : retryAfterSeconds * 1000);
    }
    if (status !== null && status < 500) return false;
    this.#caller.refused(candidate, { code, reason });
    return this.#mayRetry() && this.#moveOn();
  }

  /** Ends the wait for a rejection's body. Returns whether another call follows. */
  #release(): boolean {
    const held = this.#held;
    if (held === null) return false;
    this.#held = null;
    held.letGo();
    if (this.#retryAfterRefusal(held.status, held.readWaitMs())) return true;
    this.#pass((events) => {
      events.onHeaders(held.status, held.headers);
      if (held.body.length > 0) events.onData(held.body);
    });
    return false;
  }

  #pass(send: (events: UpstreamEvents) => void): void {
    try {
      if (this.#events) send(this.#events);
    } catch (thrown) {
      this.abort();
      this.#caller.failed(thrown);
    }
  }

  #retryAfterRefusal(status: number, retryAfterMs: number | null): boolean {
    const { coolDownMs, coolDownMsMax, retryWaitMsMax } = this.#options;
    const candidate = this.#candidate;
    if (candidate === null) return false;
    const code = `http_${status}` as const;
    this.#coolDown(candidate, Math.min(retryAfterMs ?? coolDownMs, coolDownMsMax), { code, reason: code });
    if (!this.#mayRetry()) return false;
    if (this.#moveOn()) return true;
    if (retryAfterMs === null || retryAfterMs > retryWaitMsMax) return false;
    this.#options.retryBudget.spend();
    this.#call?.abort();
    this.#waiting = setTimeout(() => this.#start(candidate), retryAfterMs);
    return true;
  }

  #retryElsewhere({ code, reason }: GatewayError): boolean {
    if (this.#candidate === null) return false;
    this.#coolDown(this.#candidate, this.#options.coolDownMs, { code, reason });
    this.#unreachable.push(this.#candidate.providerId);
    return this.#mayRetry() && this.#moveOn();
  }

  #coolDown(candidate: Candidate, ms: number, why: CoolDownCause): void {
    this.#options.coolDowns.start(candidate, ms, why);
    this.#caller.refused(candidate, why);
  }

  #mayRetry(): boolean {
    const { attemptsMax, retryBudget } = this.#options;
    return !this.#isOver && this.#calls < attemptsMax && retryBudget.hasOne;
  }

  #moveOn(): boolean {
    const last = this.#call;
    if (!this.#takeNext()) return false;
    this.#options.retryBudget.spend();
    last?.abort();
    return true;
  }

  /** Calls the next candidate that is not cooling down. Returns false if none is left. */
  #takeNext(): boolean {
    const { coolDowns, random } = this.#options;
    return this.#takeOneOf(() => selectCandidate(this.#groups, coolDowns, this.#isLeft, random));
  }

  #takeOneOf(pick: () => Candidate | null): boolean {
    for (;;) {
      const candidate = pick();
      if (candidate === null) return false;
      try {
        this.#start(candidate);
        return true;
      } catch (error) {
        this.#refusal ??= error;
      }
    }
  }

  #start(candidate: Candidate): void {
    this.#tried.push(candidate);
    this.#mayCost = this.mayCost;
    this.#isRefused = false;
    const attempt = this.#caller.prepare(candidate);
    this.#candidate = candidate;
    this.#events = attempt.events;
    this.dropped = attempt.dropped ?? null;
    this.#calls++;
    const call = attempt.begin(this);
    // An error that `begin` reports synchronously may already have started another call.
    if (this.#events === attempt.events) this.#call = call;
  }

  readonly #isLeft = (candidate: Candidate): boolean =>
    !this.#tried.includes(candidate) && !this.#unreachable.includes(candidate.providerId);
}

/**
 * Statuses of an upstream that did not process the request: rejected credential (401, 403), no funds (402),
 * rate limited (429), unavailable (503), overloaded (529, Anthropic).
 */
const refusals = new Set([401, 402, 403, 429, 503, 529]);

/** Statuses of a proxy whose own upstream may still process the request. */
const proxyFailures = new Set([502, 504, 524]);

/** Holds a rejection whose headers do not say how long to wait, if its body may. */
function holdRefusal(status: number, headers: UpstreamHeaders, release: () => void): HeldRefusal | null {
  const mayWait =
    (status === 429 || status === 503) &&
    readRetryAfterMs(headers) === null &&
    isMediaType(headers["content-type"], "application/json");
  return mayWait ? new HeldRefusal(status, headers, release) : null;
}

/** A rejection whose body is read before another call follows. The wait for the body is short. */
class HeldRefusal {
  readonly status: number;
  readonly headers: UpstreamHeaders;
  readonly #body = new GrowingBody(bodyBytesMax);
  readonly #release: () => void;
  readonly #timer: NodeJS.Timeout;

  /** @param release runs if the body is too long or late */
  constructor(status: number, headers: UpstreamHeaders, release: () => void) {
    this.status = status;
    this.headers = headers;
    this.#release = release;
    this.#timer = setTimeout(release, bodyWaitMsMax);
  }

  get body(): Buffer {
    return this.#body.bytes;
  }

  /** Copies the bytes, because the connection may use their buffer again. */
  add(bytes: Buffer): void {
    this.#body.append(Buffer.from(bytes));
    if (this.#body.length > bodyBytesMax) this.#release();
  }

  letGo(): void {
    clearTimeout(this.#timer);
  }

  readWaitMs(): number | null {
    return readRetryInfoMs(parseJson(this.body.toString("utf8")));
  }
}

const bodyBytesMax = 64 * 1024;
const bodyWaitMsMax = 1_000;

/**
 * Selects by weight from the first group with a candidate that is left and not cooling down.
 * @param isLeft whether a candidate may still be tried for this request
 */
function selectCandidate(
  groups: readonly (readonly Candidate[])[],
  coolDowns: CoolDowns,
  isLeft: (candidate: Candidate) => boolean,
  random: () => number,
): Candidate | null {
  for (const group of groups) {
    const only = group.length === 1 ? group[0] : undefined;
    if (only) {
      if (isLeft(only) && coolDowns.leftMs(only) === 0) return only;
      continue;
    }
    const candidates = group.filter((candidate) => isLeft(candidate) && coolDowns.leftMs(candidate) === 0);
    const candidate = selectByWeight(candidates, random);
    if (candidate) return candidate;
  }
  return null;
}

function selectSoonest(
  groups: readonly (readonly Candidate[])[],
  coolDowns: CoolDowns,
  isLeft: (candidate: Candidate) => boolean,
): Candidate | null {
  let soonest: Candidate | null = null;
  for (const candidate of groups.flat().filter(isLeft)) {
    if (soonest === null || coolDowns.leftMs(candidate) < coolDowns.leftMs(soonest)) soonest = candidate;
  }
  return soonest;
}

function selectByWeight(candidates: readonly Candidate[], random: () => number): Candidate | undefined {
  const total = candidates.reduce((sum, { weight }) => sum + weight, 0);
  let left = random() * total;
  return candidates.find(({ weight }) => (left -= weight) < 0) ?? candidates.at(-1);
}
