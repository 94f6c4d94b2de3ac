/** Whether Fargate supports this combination of CPU units and MiB of memory. */
export function isFargatePair(cpu: number, memoryMib: number): boolean {
  const size = fargateSizes.get(cpu);
  if (!size) return false;
  const { fromGib, toGib, stepGib } = size;
  if (cpu === 256 && memoryMib === 512) return true;
  const gib = memoryMib / 1024;
  return gib >= fromGib && gib <= toGib && (gib - fromGib) % stepGib === 0;
}

/** https://docs.aws.amazon.com/AmazonECS/latest/developerguide/fargate-tasks-services.html#fargate-tasks-size */
const fargateSizes = new Map([
  [256, { fromGib: 1, toGib: 2, stepGib: 1 }],
  [512, { fromGib: 1, toGib: 4, stepGib: 1 }],
  [1_024, { fromGib: 2, toGib: 8, stepGib: 1 }],
  [2_048, { fromGib: 4, toGib: 16, stepGib: 1 }],
  [4_096, { fromGib: 8, toGib: 30, stepGib: 1 }],
  [8_192, { fromGib: 16, toGib: 60, stepGib: 4 }],
  [16_384, { fromGib: 32, toGib: 120, stepGib: 8 }],
]);

export const fargatePairs = [...fargateSizes]
  .map(([cpu, { fromGib, toGib, stepGib }]) => {
    const smallest = cpu === 256 ? "512 MiB, or " : "";
    return `cpu ${cpu} with ${smallest}${fromGib * 1024} to ${toGib * 1024} MiB in steps of ${stepGib * 1024}`;
  })
  .join("; ");

/** A task's processes: one per whole CPU, because a process has one event loop. */
export function workersOf(cpu: number): number {
  return Math.max(1, Math.floor(cpu / 1024));
}

/**
 * Estimates RDS's default connection limit: memory in bytes / 12,582,880. A fifth of the connections is reserved
 * for administrators and RDS.
 */
export function connectionsAvailable(databaseClass: string): number {
  const [, family = "", size = ""] = databaseClass.split(".");
  const perLarge = family.startsWith("r") || family.startsWith("x") ? 16 : 8;
  const burstable: Record<string, number> = { micro: 1, small: 2, medium: 4 };
  const times = /^(\d*)xlarge$/.exec(size)?.[1];
  const memoryGib = burstable[size] ?? (times === undefined ? perLarge : perLarge * 2 * Number(times || 1));
  return Math.floor(((memoryGib * 1024 ** 3) / 12_582_880) * 0.8);
}

/** The smallest instances have no Performance Insights. */
export function hasPerformanceInsights(databaseClass: string): boolean {
  return !/\.(micro|small)$/.test(databaseClass);
}
