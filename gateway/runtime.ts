import { pooledRandomBytes } from "./ids.ts";
import type { Log } from "./log.ts";

/** The sources of time, randomness and output, and the strength of password hashes. Tests replace them. */
export type Runtime = {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds of a clock that nobody sets. Durations and intervals use it, dates use `now`. */
  monotonicNow(): number;
  randomBytes(size: number): Buffer;
  hashStrength: HashStrength;
  log: Log;
};

export function systemRuntime(log: Log): Runtime {
  return {
    now: Date.now,
    monotonicNow: () => performance.now(),
    randomBytes: pooledRandomBytes(),
    hashStrength: recommendedStrength,
    log,
  };
}

/** Argon2id's memory in KiB, passes and lanes (RFC 9106). */
export type HashStrength = { memory: number; passes: number; parallelism: number };

/**
 * OWASP's recommended strength: 46 MiB, 1 pass, 1 lane. OWASP rates 19 MiB with 2 passes as equal, but glibc keeps
 * freed blocks below 32 MiB for itself.
 */
export const recommendedStrength: HashStrength = { memory: 47_104, passes: 1, parallelism: 1 };
