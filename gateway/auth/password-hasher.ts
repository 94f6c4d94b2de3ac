import { GatewayError } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import { hashPassword, verifyPassword } from "./passwords.ts";

/**
 * Hashes and verifies passwords, one at a time, because each hash needs 19 MiB and a thread of the pool that
 * also serves the disk. Throws `service_unavailable` if the queue is full.
 */
export class PasswordHasher {
  readonly #runtime: Pick<Runtime, "randomBytes">;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(runtime: Pick<Runtime, "randomBytes">) {
    this.#runtime = runtime;
  }

  hash(password: string): Promise<string> {
    return this.#run(() => hashPassword(password, this.#runtime));
  }

  /** Whether the password matches the hash. A missing hash takes the same time and returns false. */
  verify(password: string, passwordHash: string | null): Promise<boolean> {
    return this.#run(() => verifyPassword(password, passwordHash));
  }

  async #run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running < concurrentHashesMax) this.#running++;
    else await this.#wait();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }

  /** Resolves when a finished hash frees its place. */
  #wait(): Promise<void> {
    if (this.#waiting.length >= waitingHashesMax) {
      throw new GatewayError(
        "service_unavailable",
        "Too many sign-ins are in progress. Retry in a few seconds.",
        { retryAfterSeconds },
      );
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

const concurrentHashesMax = 1;
const waitingHashesMax = 100;
/** The approximate wait behind a full queue. */
const retryAfterSeconds = 3;
