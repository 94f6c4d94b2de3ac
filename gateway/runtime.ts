import { randomBytes } from "node:crypto";
import type { Log } from "./log.ts";

/** What the gateway takes from the world besides its configuration; tests put their own in its place. */
export type Runtime = {
  /** Milliseconds since 1970. */
  now(): number;
  randomBytes(size: number): Buffer;
  log: Log;
};

export function systemRuntime(log: Log): Runtime {
  return { now: Date.now, randomBytes, log };
}
