import type { HolderLimits, HolderUse } from "./holder-limits.ts";
import { secondsPerMinute, type SlidingMinute } from "./sliding-minute.ts";

/**
 * Adds `x-ratelimit-*` to alternating names and values, under OpenAI's names, for the limit with the least
 * left. https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers
 * @param exactUse each holder's use in all processes, if known
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
    // A clock that was set back can give more than a minute.
    const resetIn = durations[seconds] ?? formatDuration(seconds);
    headers.push(limit, String(least.limit), remaining, String(least.left), reset, resetIn);
  }
}

/** Limits count in seconds, so each of the 61 texts is built once. */
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

/** Whole seconds in the format of OpenAI's `x-ratelimit-reset-*` headers: `7s`, `1m0s`. */
export function formatDuration(seconds: number): string {
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
