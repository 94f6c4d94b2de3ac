/** What something costs, in CPU microseconds a request: without it, with it, and how much more in the middle pair. */
export type PairedCost = { without: number; with: number; more: number; error: number };

/**
 * The same requests with and without something. In turns so short that whatever else the machine does befalls both, and each
 * is first as often as the other. The median of the pairs' differences counts, with its standard error: of a normal
 * distribution's, 1.2533 times that of the mean, which here is estimated from the quartiles so that a turn that was
 * disturbed does not count.
 * @param run one turn; tells what a request cost
 */
export async function comparePairs(run: (variant: Variant) => Promise<number>): Promise<PairedCost> {
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
 * Our aims are microseconds of the machine on which the bare proxy took `aimedBareUs` a request. On any other one what counts
 * is the share of what the bare proxy takes there, in the same run.
 */
export function formatPairedCost(name: string, cost: PairedCost, aimUs: number, bareUs: number): string {
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

/** Of November 2026, when the aims were set. */
const aimedBareUs = 68.7;

export type Variant = "without" | "with";

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
}

const warmUpPairs = 10;
const pairs = 300;
