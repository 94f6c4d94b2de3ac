import type { Candidate } from "./candidate.ts";
import type { CoolDowns } from "./cool-downs.ts";

/**
 * Selects by weight from the first group with a candidate that is left and not cooling down.
 * @param isLeft whether a candidate may still be tried for this request
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

export function selectSoonest(
  groups: readonly (readonly Candidate[])[],
  coolDowns: CoolDowns,
  isLeft: (candidate: Candidate) => boolean,
): Candidate | null {
  let soonest: Candidate | null = null;
  for (const candidate of groups.flat().filter(isLeft)) {
    if (soonest === null || coolDowns.leftMs(candidate) < coolDowns.leftMs(soonest)) soonest = candidate;
  }
  return soonest;
}

function selectByWeight(candidates: readonly Candidate[], random: () => number): Candidate | undefined {
  const total = candidates.reduce((sum, { weight }) => sum + weight, 0);
  let left = random() * total;
  return candidates.find(({ weight }) => (left -= weight) < 0) ?? candidates.at(-1);
}
