/** Milliseconds of a clock that never jumps and is the same in all threads, unlike `performance.now()`. */
export function monotonicMs(): number {
  return performance.now() + offsetMs;
}

const offsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();
