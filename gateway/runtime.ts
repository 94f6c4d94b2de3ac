import { randomFillSync } from "node:crypto";
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

/** Fetched in batches, because every request needs a few bytes for its ID. */
function pooledRandomBytes(): Runtime["randomBytes"] {
  let pool = Buffer.alloc(0);
  return (size) => {
    if (pool.length < size) pool = randomFillSync(Buffer.allocUnsafeSlow(Math.max(size, poolBytes)));
    const bytes = pool.subarray(0, size);
    pool = pool.subarray(size);
    return bytes;
  };
}

const poolBytes = 8 * 1024;
