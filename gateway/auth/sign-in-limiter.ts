import { GatewayError } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import { AttemptCounter } from "./attempt-counter.ts";
import { networkOf } from "./network-of.ts";

/**
 * Limits guesses at passwords: from one network, from one network at one account, and at one account from networks that have
 * never signed in to it. So a stranger locks out neither the account's owner nor anybody else.
 */
export class SignInLimiter {
  readonly #networks: AttemptCounter;
  readonly #accounts: AttemptCounter;
  /** Of an account and a network. */
  readonly #pairs: AttemptCounter;
  /** Pairs that have signed in, the latest last. */
  readonly #knownPairs = new Set<string>();

  constructor({ now }: Pick<Runtime, "now">) {
    const options = { now, windowMs, keysMax };
    this.#networks = new AttemptCounter({ ...options, attemptsMax: attemptsPerNetworkMax });
    this.#accounts = new AttemptCounter({ ...options, attemptsMax: attemptsByStrangersMax });
    this.#pairs = new AttemptCounter({ ...options, attemptsMax: attemptsPerPairMax });
  }

  /**
   * Counts the attempt before `check` looks at the password, so that parallel guesses count too. It is forgotten if the
   * password is right, or if `check` throws. Throws `too_many_attempts`.
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

  /** Returns the attempts at the account. What is refused counts nowhere, so that only checked passwords take memory. */
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
  /** Failed ones at the account in the window, this one included. */
  attempts: number;
  /** Whether a failure is worth an entry in the audit log: there are a few of an account in a window. */
  isNotable: boolean;
};

const windowMs = 15 * 60_000;
const attemptsPerNetworkMax = 50;
const attemptsPerPairMax = 10;
const attemptsByStrangersMax = 50;
/** More than passwords can be hashed within the window. */
const keysMax = 50_000;
const knownPairsMax = 10_000;
const notableAttempts = new Set([1, attemptsPerPairMax, attemptsByStrangersMax]);

function tooManyAttempts(waitMs: number): GatewayError {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  const minutes = Math.ceil(waitMs / 60_000);
  return new GatewayError(
    "too_many_attempts",
    `Too many attempts. Try again in ${minutes} ${minutes === 1 ? "minute" : "minutes"}.`,
    { retryAfterSeconds },
  );
}
