import { GatewayError } from "../errors.ts";
import type { HashStrength, Runtime } from "../runtime.ts";
import { argon2, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

/**
 * Hashes and verifies passwords, one at a time, because each hash needs 46 MiB and a thread of the pool that
 * also serves the disk. Throws `service_unavailable` if the queue is full.
 */
export class PasswordHasher {
  readonly #runtime: HashRuntime;
  #unfinished = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(runtime: HashRuntime) {
    this.#runtime = runtime;
  }

  hash(password: string): Promise<string> {
    return this.#run(() => hashPassword(password, this.#runtime));
  }

  verify(password: string, passwordHash: string | null): Promise<boolean> {
    return this.#run(() => verifyPassword(password, passwordHash, this.#runtime));
  }

  async #run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#unfinished > waitingHashesMax) {
      const message = "Too many sign-ins are in progress. Retry in a few seconds.";
      throw new GatewayError("service_unavailable", message, { retryAfterSeconds });
    }
    this.#unfinished++;
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    try {
      return await result;
    } finally {
      this.#unfinished--;
    }
  }
}

const waitingHashesMax = 100;
/** The approximate wait behind a full queue. */
const retryAfterSeconds = 3;

type HashRuntime = Pick<Runtime, "randomBytes" | "hashStrength">;

/** Hashes with argon2id (RFC 9106). The PHC string names the strength, so that it can be raised later. */
export async function hashPassword(
  password: string,
  { randomBytes, hashStrength }: HashRuntime,
): Promise<string> {
  const salt = randomBytes(16);
  const tag = await derive(password, salt, hashStrength);
  return formatHash(hashStrength, encode(salt), encode(tag));
}

/** Whether the password matches the hash. A missing hash takes the same time and returns false. */
export async function verifyPassword(
  password: string,
  passwordHash: string | null,
  { hashStrength }: Pick<HashRuntime, "hashStrength">,
): Promise<boolean> {
  const match = phcPattern.exec(passwordHash ?? hashOfNothing(hashStrength));
  if (!match) return false;
  const [, memory, passes, parallelism, salt = "", expected = ""] = match;
  const used = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const tag = await derive(password, Buffer.from(salt, "base64"), used);
  const isEqual = timingSafeEqual(tag, Buffer.from(expected, "base64"));
  return isEqual && passwordHash !== null;
}

const tagBytes = 32;
const phcPattern = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

/** Unknown users are checked against this hash, so that the duration does not reveal which accounts exist. */
function hashOfNothing(strength: HashStrength): string {
  return formatHash(strength, "A".repeat(22), "A".repeat(43));
}

function formatHash({ memory, passes, parallelism }: HashStrength, salt: string, tag: string): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${salt}$${tag}`;
}

const argon2Async = promisify(argon2);

function derive(password: string, salt: Buffer, used: HashStrength): Promise<Buffer> {
  return argon2Async("argon2id", {
    message: Buffer.from(password.normalize("NFKC"), "utf8"),
    nonce: salt,
    tagLength: tagBytes,
    ...used,
  });
}

function encode(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("=", "");
}
