import type { Way } from "./candidate.ts";
import type { CoolDowns } from "./cool-downs.ts";

/**
 * The way to take next: the first group that has one left, and in it a credential by weight. Null when all have been tried
 * or are cooling down.
 * @param isLeft whether a way may still be tried for this request
 * @param random a number from 0 to 1, without 1
 */
export function pickWay(
  groups: readonly (readonly Way[])[],
  coolDowns: CoolDowns,
  isLeft: (way: Way) => boolean,
  random: () => number,
): Way | null {
  for (const group of groups) {
    const only = group.length === 1 ? group[0] : undefined;
    if (only) {
      if (isLeft(only) && coolDowns.leftMs(only) === 0) return only;
      continue;
    }
    const candidates = group.filter((way) => isLeft(way) && coolDowns.leftMs(way) === 0);
    const way = pickByWeight(candidates, random);
    if (way) return way;
  }
  return null;
}

/** When all are cooling down: of those that may still be tried, the one that is ready soonest. */
export function pickSoonest(
  groups: readonly (readonly Way[])[],
  coolDowns: CoolDowns,
  isLeft: (way: Way) => boolean,
): Way | null {
  let soonest: Way | null = null;
  for (const way of groups.flat()) {
    if (!isLeft(way)) continue;
    if (soonest === null || coolDowns.leftMs(way) < coolDowns.leftMs(soonest)) soonest = way;
  }
  return soonest;
}

function pickByWeight(ways: readonly Way[], random: () => number): Way | undefined {
  const total = ways.reduce((sum, { weight }) => sum + weight, 0);
  let left = random() * total;
  return ways.find(({ weight }) => (left -= weight) < 0) ?? ways.at(-1);
}
