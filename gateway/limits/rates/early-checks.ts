import { toGatewayError } from "../../errors.ts";
import { Admission } from "./admission.ts";
import { checkLimits, type ExactCounts, type HolderLimits } from "./holder-limits.ts";

const noTokens = { input: 0, total: 0 };

type Counts = { now: () => number; sharedBy?: () => number; exact?: ExactCounts | null };

/** A rejected request has an admission too, for the headers of its response. */
export function admitNothing(holders: readonly HolderLimits[], now: () => number): Admission {
  const ignore = () => {};
  return new Admission({
    holders,
    now,
    spend: ignore,
    isWaiting: () => false,
    leave: ignore,
    returned: ignore,
  });
}

/** Throws the error of a limit that is exceeded already. Counts nothing. */
export function checkEarly(holders: readonly HolderLimits[], { now, sharedBy, exact }: Counts): void {
  for (const limits of holders) {
    try {
      checkLimits(limits, noTokens, now(), sharedBy?.());
    } catch (error) {
      // Valkey decides, and its clock may differ. Its counts include these.
      const isNear = (toGatewayError(error).retryAfterSeconds ?? 0) <= clockToleranceSeconds;
      if (!exact?.isThere || !isNear) throw error;
    }
  }
}

const clockToleranceSeconds = 2;

/**
 * Counts a request that calls no model: one request without tokens. Throws the error of an exceeded rate. Concurrent
 * requests do not matter, because no upstream works for the request.
 */
export async function countRequest(
  all: readonly HolderLimits[],
  { now, sharedBy, exact }: Counts,
): Promise<void> {
  if (all.length === 0) return;
  const holders = all.map((holder) => ({ ...holder, concurrentRequests: 0 }));
  const answer = exact?.isThere ? await exact.reserve(holders, 0) : null;
  if (answer && "error" in answer) throw answer.error;
  // Once Valkey's counts include the whole last minute, its decision is enough.
  const isDecided = answer !== null && exact?.knowsAll === true;
  try {
    if (!isDecided) for (const limits of holders) checkLimits(limits, noTokens, now(), sharedBy?.());
  } catch (error) {
    answer?.undo();
    throw error;
  }
  const second = Math.floor(now() / 1000);
  for (const { meter } of holders) {
    meter.addRequest(second, 0);
    meter.concurrent--;
  }
  answer?.end(0);
}
