/**
 * Returns the ratio of the CPU times of `runLarge` and `runSmall`. Returns 0 if the ratio is below `ratioMax`, or if
 * `runLarge` takes less than `floorMs`. The input of `runLarge` must be four times as large.
 */
export async function measureGrowth(runSmall: () => unknown, runLarge: () => unknown): Promise<number> {
  let [smallMs, largeMs] = [Infinity, Infinity];
  for (let tries = 0; tries < triesMax; tries++) {
    largeMs = Math.min(largeMs, await msOf(runLarge));
    if (largeMs < floorMs) return 0;
    smallMs = Math.min(smallMs, await msOf(runSmall));
    if (largeMs / smallMs < ratioMax) return 0;
  }
  return largeMs / smallMs;
}

async function msOf(run: () => unknown): Promise<number> {
  // The CPU time of this thread excludes other processes.
  const before = process.threadCpuUsage();
  await run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

const ratioMax = 8;
/** Garbage collection slows down some attempts, but not all. */
const triesMax = 15;
/** Shorter times are mostly noise. */
const floorMs = 20;
