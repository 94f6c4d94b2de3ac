/** How many times as long four times the size takes, at best; 0 where it is clearly linear. */
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
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

const ratioMax = 8;
/** Others on the machine make one try slow, but not all. */
const triesMax = 15;
/** Below it, the difference is noise. */
const floorMs = 20;
