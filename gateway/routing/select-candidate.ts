import type { Candidate } from "./candidate.ts";
import type { CoolDowns } from "./cool-downs.ts";

/**
 * The way to take next: the first group that has one left, and in it a credential by weight. Null when all have been tried
 * or are cooling down.
 * @param isLeft whether a way may still be tried for this request
 * @param random a number from 0 to 1, without 1
 */
export function selectCandidate(
  groups: readonly (readonly Candidate[])[],
  coolDowns: CoolDowns,
  isLeft: (candidate: Candidate) => boolean,
  random: () => number,
): Candidate | null {
  for (const group of groups) {
    const only = group.length === 1 ? group[0] : undefined;
    if (only) {
      if (isLeft(only) && coolDowns.leftMs(only) === 0) return only;
      continue;
    }
    const candidates = group.filter((candidate) => isLeft(candidate) && coolDowns.leftMs(candidate) === 0);
    const candidate = selectByWeight(candidates, random);
    if (candidate) return candidate;
  }
  return null;
}

/** When all are cooling down: of those that may still be tried, the one that is ready soonest. */
export function selectSoonest(
  groups: readonly (readonly Candidate[])[],
  coolDowns: CoolDowns,
  isLeft: (candidate: Candidate) => boolean,
): Candidate | null {
  let soonest: Candidate | null = null;
  for (const candidate of groups.flat()) {
    if (!isLeft(candidate)) continue;
    if (soonest === null || coolDowns.leftMs(candidate) < coolDowns.leftMs(soonest)) soonest = candidate;
  }
  return soonest;
}

function selectByWeight(candidates: readonly Candidate[], random: () => number): Candidate | undefined {
  const total = candidates.reduce((sum, { weight }) => sum + weight, 0);
  let left = random() * total;
  return candidates.find(({ weight }) => (left -= weight) < 0) ?? candidates.at(-1);
}
