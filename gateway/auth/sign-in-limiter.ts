import { RateLimiterMemory } from "rate-limiter-flexible";
import { GatewayError } from "../errors.ts";

/** Limits guessing: failed attempts per account, and per address whatever the account. */
export class SignInLimiter {
  readonly #accounts = new RateLimiterMemory({ points: attemptsPerAccountMax, duration: windowSeconds });
  readonly #addresses = new RateLimiterMemory({ points: attemptsPerAddressMax, duration: windowSeconds });

  /**
   * Counts before the password is looked at, so that parallel guesses count too. Says whether a failure of this attempt is
   * worth an entry in the audit log: the first in a while, and the last before the account is closed, but none between.
   * Throws `too_many_attempts`.
   */
  async countAttempt(account: string, address: string): Promise<{ attempts: number; isNotable: boolean }> {
    await consume(this.#addresses, address);
    const attempts = await consume(this.#accounts, account);
    return { attempts, isNotable: attempts === 1 || attempts === attemptsPerAccountMax };
  }

  /** After a success: the account starts anew, and the address gets its attempt back. */
  async forgive(account: string, address: string): Promise<void> {
    await this.#accounts.delete(account);
    await this.#addresses.reward(address);
  }
}

const windowSeconds = 15 * 60;
const attemptsPerAccountMax = 10;
const attemptsPerAddressMax = 50;

async function consume(limiter: RateLimiterMemory, key: string): Promise<number> {
  try {
    const { consumedPoints } = await limiter.consume(key);
    return consumedPoints;
  } catch (refusal) {
    const { msBeforeNext } = refusal as { msBeforeNext: number };
    const retryAfterSeconds = Math.ceil(msBeforeNext / 1000);
    throw new GatewayError(
      "too_many_attempts",
      `Too many attempts. Try again in ${Math.ceil(retryAfterSeconds / 60)} minutes.`,
      {
        retryAfterSeconds,
      },
    );
  }
}
