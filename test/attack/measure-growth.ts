/** How many times as much CPU time four times the size takes, at best; 0 where it is clearly linear. */
export async function measureGrowth(runSmall: () => unknown, runLarge: () => unknown): Promise<number> {
  let [smallMs, largeMs] = [Infinity, Infinity];
  for (let tries = 0; tries < triesMax; tries++) {
    smallMs = Math.min(smallMs, await msOf(runSmall));
    largeMs = Math.min(largeMs, await msOf(runLarge));
    if (largeMs < floorMs || largeMs / smallMs < ratioMax) return 0;
  }
  return largeMs / smallMs;
}

async function msOf(run: () => unknown): Promise<number> {
  // Of this thread only: what else runs on the machine does not count.
  const before = process.threadCpuUsage();
  await run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

const ratioMax = 8;
/** Garbage collection makes one try slow, but not all. */
const triesMax = 15;
/** Below it, the difference is noise. */
const floorMs = 20;
