import type { HolderLimits, HolderUse } from "./holder-limits.ts";
import { secondsPerMinute, type SlidingMinute } from "./sliding-minute.ts";

/**
 * Adds `x-ratelimit-*` to names and values in turn, under OpenAI's names: of the limits that a request is under, the one that
 * has the least left. https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers
 * @param exactUse what each holder uses in all processes, where that is known better
 */
export function addRateLimitHeaders(
  headers: string[],
  holders: readonly HolderLimits[],
  second: number,
  exactUse: readonly HolderUse[] | null = null,
): void {
  for (const kind of kinds) {
    let least: { limit: number; left: number; minute: SlidingMinute } | null = null;
    for (let index = 0; index < holders.length; index++) {
      const holder = holders[index];
      const limit = kind === "requests" ? holder?.requestsPerMinute : holder?.tokensPerMinute;
      if (!holder || !limit) continue;
      const minute = holder.meter[kind];
      const used = exactUse?.[index]?.[kind] ?? minute.used(second);
      const left = Math.max(0, Math.floor(limit - used));
      if (least === null || left < least.left) least = { limit, left, minute };
    }
    if (least === null) continue;
    const { limit, remaining, reset } = names[kind];
    const seconds = least.minute.freeAt(second, 0) - second;
    // More than a minute is left when the clock has been put back.
    const resetIn = durations[seconds] ?? formatDuration(seconds);
    headers.push(limit, String(least.limit), remaining, String(least.left), reset, resetIn);
  }
}

/** A minute counts in seconds, and so does what is said of it: each of them is written once. */
const durations = Array.from({ length: secondsPerMinute + 1 }, (_, seconds) => formatDuration(seconds));
const kinds = ["requests", "tokens"] as const;
const names = { requests: namesOf("requests"), tokens: namesOf("tokens") };

function namesOf(kind: string) {
  return {
    limit: `x-ratelimit-limit-${kind}`,
    remaining: `x-ratelimit-remaining-${kind}`,
    reset: `x-ratelimit-reset-${kind}`,
  };
}

/** Whole seconds as OpenAI's `x-ratelimit-reset-*` headers have them: `7s`, `1m0s`. */
export function formatDuration(seconds: number): string {
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
