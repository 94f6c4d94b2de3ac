import { pooledRandomBytes } from "./ids.ts";
import type { Log } from "./log.ts";

/** The sources of time, randomness and output. Tests replace them. */
export type Runtime = {
  /** Milliseconds since 1970. */
  now(): number;
  randomBytes(size: number): Buffer;
  log: Log;
};

export function systemRuntime(log: Log): Runtime {
  return { now: Date.now, randomBytes: pooledRandomBytes(), log };
}
