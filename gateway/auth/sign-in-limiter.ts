import { isIPv6, SocketAddress } from "node:net";
import { GatewayError } from "../errors.ts";
import type { Runtime } from "../runtime.ts";

/**
 * Limits password guesses per network, per account, and per pair of network and account.
 * Networks from which a user signed in are exempt from the account's limit, so that strangers cannot lock out users.
 */
export class SignInLimiter {
  readonly #networks: AttemptCounter;
  readonly #accounts: AttemptCounter;
  readonly #pairs: AttemptCounter;
  /** Pairs of network and account with a successful sign-in, the latest last. */
  readonly #knownPairs = new Set<string>();

  constructor({ monotonicNow }: Pick<Runtime, "monotonicNow">) {
    const options = { now: monotonicNow, windowMs, keysMax };
    this.#networks = new AttemptCounter({ ...options, attemptsMax: attemptsPerNetworkMax });
    this.#accounts = new AttemptCounter({ ...options, attemptsMax: attemptsByStrangersMax });
    this.#pairs = new AttemptCounter({ ...options, attemptsMax: attemptsPerPairMax });
  }

  /**
   * Counts the attempt before `check`, so that parallel guesses count. An error in `check` removes the attempt. A
   * correct password clears the pair's attempts, but failures still count for the network. Throws `too_many_attempts`.
   */
  async attempt<Outcome extends { isRight: boolean }>(
    account: string,
    address: string,
    check: () => Promise<Outcome>,
  ): Promise<Outcome & Attempt> {
    const network = networkOf(address);
    const pair = `${account} ${network}`;
    const attempts = this.#count(account, network, pair);
    const forget = (own: number) => {
      this.#networks.subtract(network, 1);
      this.#accounts.subtract(account, own);
    };
    try {
      const outcome = await check();
      if (outcome.isRight) {
        forget(this.#pairs.delete(pair));
        this.#remember(pair);
      }
      return { ...outcome, attempts, isNotable: notableAttempts.has(attempts) };
    } catch (error) {
      this.#pairs.subtract(pair, 1);
      forget(1);
      throw error;
    }
  }

  /** Returns the account's attempts. Rejected attempts are not counted, so that they use no memory. */
  #count(account: string, network: string, pair: string): number {
    const waitMs = Math.max(
      this.#networks.waitMs(network),
      this.#pairs.waitMs(pair),
      this.#knownPairs.has(pair) ? 0 : this.#accounts.waitMs(account),
    );
    if (waitMs > 0) throw tooManyAttempts(waitMs);
    this.#networks.add(network);
    this.#pairs.add(pair);
    return this.#accounts.add(account);
  }

  #remember(pair: string): void {
    this.#knownPairs.delete(pair);
    this.#knownPairs.add(pair);
    const [oldest] = this.#knownPairs;
    if (oldest !== undefined && this.#knownPairs.size > knownPairsMax) this.#knownPairs.delete(oldest);
  }
}

type Attempt = {
  /** The account's attempts in the window, including this one. */
  attempts: number;
  /** Whether a failure gets an audit entry. Each account gets only a few entries per window. */
  isNotable: boolean;
};

const windowMs = 15 * 60_000;
const attemptsPerNetworkMax = 50;
const attemptsPerPairMax = 10;
const attemptsByStrangersMax = 50;
/** More passwords than a process can hash within the window. */
const keysMax = 50_000;
const knownPairsMax = 10_000;
const notableAttempts = new Set([1, attemptsPerPairMax, attemptsByStrangersMax]);

function tooManyAttempts(waitMs: number): GatewayError {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  const minutes = Math.ceil(waitMs / 60_000);
  return new GatewayError(
    "too_many_attempts",
    `Too many attempts failed. Retry in ${minutes} ${minutes === 1 ? "minute" : "minutes"}.`,
    { retryAfterSeconds },
  );
}

/** Returns the /64 network of an IPv6 address, because a client can choose any address in it. Returns IPv4 unchanged. */
export function networkOf(address: string): string {
  const [plain = ""] = address.split("%");
  if (!isIPv6(plain)) return address;
  // `SocketAddress` normalizes the address. An IPv4-mapped address then ends with the IPv4 address.
  const { address: shortest } = new SocketAddress({ address: plain, family: "ipv6" });
  const ipv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(shortest)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const [head = "", tail] = shortest.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const last = tail === "" ? [] : tail.split(":");
    // A trailing IPv4 address replaces two groups, which are never among the first four.
    const missing = 8 - groups.length - last.length - (tail.includes(".") ? 1 : 0);
    groups.push(...Array.from({ length: missing }, () => "0"), ...last);
  }
  return `${groups.slice(0, 4).join(":")}::/64`;
}

type AttemptCounterOptions = { now: () => number; attemptsMax: number; windowMs: number; keysMax: number };

/** Counts attempts by key, in a window from the first one. Drops the oldest keys beyond `keysMax`. */
export class AttemptCounter {
  readonly #options: AttemptCounterOptions;
  /** The windows are in the order of their ends, because all have the same length. */
  readonly #windows = new Map<string, { attempts: number; endsAt: number }>();

  constructor(options: AttemptCounterOptions) {
    this.#options = options;
  }

  /** The time until the key's next allowed attempt. 0 if an attempt is allowed now. */
  waitMs(key: string): number {
    this.#deleteEnded();
    const window = this.#windows.get(key);
    return window && window.attempts >= this.#options.attemptsMax ? window.endsAt - this.#options.now() : 0;
  }

  /** Returns the key's attempts in its window, including this one. */
  add(key: string): number {
    this.#deleteEnded();
    const window = this.#windows.get(key);
    if (window) return ++window.attempts;
    const [oldest] = this.#windows.keys();
    if (oldest !== undefined && this.#windows.size >= this.#options.keysMax) this.#windows.delete(oldest);
    this.#windows.set(key, { attempts: 1, endsAt: this.#options.now() + this.#options.windowMs });
    return 1;
  }

  subtract(key: string, attempts: number): void {
    const window = this.#windows.get(key);
    if (window && (window.attempts -= attempts) <= 0) this.#windows.delete(key);
  }

  /** Returns the number of removed attempts. */
  delete(key: string): number {
    const attempts = this.#windows.get(key)?.attempts ?? 0;
    this.#windows.delete(key);
    return attempts;
  }

  #deleteEnded(): void {
    const now = this.#options.now();
    for (const [key, { endsAt }] of this.#windows) {
      if (endsAt > now) return;
      this.#windows.delete(key);
    }
  }
}
