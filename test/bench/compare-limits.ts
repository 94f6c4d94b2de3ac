import type { BenchmarkCase } from "./cases.ts";
import type { RoundRunner } from "./round-runner.ts";

/**
 * What limits cost: the same requests with a key that has all kinds of them and one that has none, as one line. In turns so
 * short that whatever else the machine does befalls both, and each is first as often as the other. The median of the pairs'
 * differences counts, with its standard error: of a normal distribution's, 1.2533 times that of the mean, which here is
 * estimated from the quartiles so that a turn that was disturbed does not count.
 */
export async function compareLimits(runner: RoundRunner, benchmarkCase: BenchmarkCase): Promise<string> {
  const shortCase = { ...benchmarkCase, requestsPerRound: requestsPerTurn };
  const costs = { free: [] as number[], limited: [] as number[] };
  for (let turn = 0; turn < pairs + warmUpPairs; turn++) {
    for (const key of turn % 2 === 0 ? (["free", "limited"] as const) : (["limited", "free"] as const)) {
      const { cpuUsPerRequest } = await runner.run("gateway", shortCase, key);
      if (turn >= warmUpPairs) costs[key].push(cpuUsPerRequest);
    }
  }
  const differences = costs.limited.map((cost, index) => cost - (costs.free[index] ?? 0));
  const [free, limited, more] = [costs.free, costs.limited, differences].map((list) => quantile(list, 0.5));
  const deviation = (quantile(differences, 0.75) - quantile(differences, 0.25)) / 1.349;
  const error = (1.2533 * deviation) / Math.sqrt(pairs);
  return `Limits of every kind: ${limited?.toFixed(1)} and without them ${free?.toFixed(1)} CPU µs/request; ${more?.toFixed(1)} ± ${error.toFixed(1)} more in the middle one of ${pairs} pairs (aim: ≤ 3).`;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? NaN;
}

const warmUpPairs = 10;
const pairs = 300;
/** A twentieth of a second, about. */
const requestsPerTurn = 512;
