import type { BenchmarkCase } from "./cases.ts";
import type { GatewayProcess } from "./gateway-process.ts";
import type { MeasuredProcess } from "./measured-process.ts";
import type { BenchKeys, RoundRunner } from "./round-runner.ts";

/**
 * Reports what the gateway's own HTTP client saves, and what limits and usage records cost.
 * @param bareUs the bare proxy's CPU time per request in microseconds
 */
export async function compareFeatures(
  runner: RoundRunner,
  gateway: MeasuredProcess<GatewayProcess>,
  benchmarkCase: BenchmarkCase,
  bareUs: number,
): Promise<string> {
  const turn = { ...benchmarkCase, requestsPerRound: requestsPerTurn };
  const costOfTurn = async (key?: keyof BenchKeys) =>
    (await runner.run("gateway", turn, key)).cpuUsPerRequest;
  const limits = await comparePairs((variant) => costOfTurn(variant === "with" ? "limited" : "free"));
  const records = await comparePairs(async (variant) => {
    await gateway.ask("keepRecords", variant === "with");
    return costOfTurn();
  });
  const client = await comparePairs(async (variant) => {
    await gateway.ask("useUndici", variant === "without");
    return costOfTurn();
  });
  await gateway.ask("useUndici", false);
  return [
    `The gateway's own HTTP client saves ${(-client.more).toFixed(1)} ± ${client.error.toFixed(1)} of ${client.without.toFixed(1)} CPU µs/request with undici (${((-100 * client.more) / client.without).toFixed(0)} %).`,
    formatPairedCost("Limits of every kind", limits, 3, bareUs),
    formatPairedCost("Usage records", records, 15, bareUs),
  ].join("\n");
}

/** A turn of this many requests takes about 50 ms. */
const requestsPerTurn = 512;

/** Medians in CPU microseconds per request. `more` is the median difference, and `error` its standard error. */
type PairedCost = { without: number; with: number; more: number; error: number };

/**
 * Compares the same requests with and without a change, in short alternating turns. The standard error is estimated
 * from quartiles, which ignore outliers.
 * @param run runs one turn and returns the cost per request
 */
async function comparePairs(run: (variant: Variant) => Promise<number>): Promise<PairedCost> {
  const costs: Record<Variant, number[]> = { without: [], with: [] };
  for (let turn = 0; turn < pairs + warmUpPairs; turn++) {
    for (const variant of turn % 2 === 0 ? (["without", "with"] as const) : (["with", "without"] as const)) {
      const cost = await run(variant);
      if (turn >= warmUpPairs) costs[variant].push(cost);
    }
  }
  const differences = costs.with.map((cost, index) => cost - (costs.without[index] ?? 0));
  const deviation = (quantile(differences, 0.75) - quantile(differences, 0.25)) / 1.349;
  return {
    without: quantile(costs.without, 0.5),
    with: quantile(costs.with, 0.5),
    more: quantile(differences, 0.5),
    error: (1.2533 * deviation) / Math.sqrt(pairs),
  };
}

/**
 * Formats a cost and its target. `aimUs` applies to a machine whose bare proxy takes `aimedBareUs`. Elsewhere, the
 * target is the same share of `bareUs`.
 */
function formatPairedCost(name: string, cost: PairedCost, aimUs: number, bareUs: number): string {
  const { more, error } = cost;
  const [share, shareError] = [more, error].map((us) => ((100 * us) / bareUs).toFixed(1));
  const aimedShare = ((100 * aimUs) / aimedBareUs).toFixed(1);
  return [
    `${name}: ${more.toFixed(1)} ± ${error.toFixed(1)} CPU µs/request in the middle one of ${pairs} pairs`,
    `(${cost.with.toFixed(1)} with and ${cost.without.toFixed(1)} without),`,
    `${share} ± ${shareError} % of the bare proxy's ${bareUs.toFixed(1)}`,
    `(aim: ≤ ${aimUs} of ${aimedBareUs} µs, ${aimedShare} %).`,
  ].join(" ");
}

/** The bare proxy's CPU time per request in November 2026, when the targets were set. */
const aimedBareUs = 68.7;

type Variant = "without" | "with";

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
}

const warmUpPairs = 10;
const pairs = 300;
