import type { BenchmarkCase } from "./cases.ts";
import { best, median } from "./report.ts";
import type { RoundRunner } from "./round-runner.ts";

/**
 * What limits cost: the same requests with a key that has all kinds of them and one that has none, as one line. In turn, so
 * that whatever else the machine does befalls both, and each is first as often as the other.
 */
export async function compareLimits(runner: RoundRunner, benchmarkCase: BenchmarkCase): Promise<string> {
  const rounds = { free: [], limited: [] } as Record<
    "free" | "limited",
    Awaited<ReturnType<RoundRunner["run"]>>[]
  >;
  for (let round = 0; round < pairs + warmUpPairs; round++) {
    const order = round % 2 === 0 ? (["free", "limited"] as const) : (["limited", "free"] as const);
    for (const key of order) {
      const result = await runner.run("gateway", benchmarkCase, key);
      if (round >= warmUpPairs) rounds[key].push(result);
    }
  }
  const { free, limited } = rounds;
  const differences = limited.map((round, index) => ({
    ...round,
    cpuUsPerRequest: round.cpuUsPerRequest - (free[index]?.cpuUsPerRequest ?? 0),
  }));
  const [without, with_, of, middle] = [
    best(free),
    best(limited),
    best(limited) - best(free),
    median(differences),
  ];
  return `Limits of every kind: ${with_.toFixed(1)} and without them ${without.toFixed(1)} CPU µs/request, ${of.toFixed(1)} more in the best rounds, ${middle.toFixed(1)} in the middle one of ${pairs} pairs (aim: ≤ 3).`;
}

const warmUpPairs = 3;
const pairs = 16;
