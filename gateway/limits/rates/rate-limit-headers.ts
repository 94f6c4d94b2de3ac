import { formatDuration } from "./format-duration.ts";
import type { Scope } from "./scope.ts";
import { secondsPerMinute, type SlidingMinute } from "./sliding-minute.ts";
import type { ScopeUse } from "./exact-place.ts";

/**
 * Adds `x-ratelimit-*` to names and values in turn, under OpenAI's names: of the limits that a request is under, the one that
 * has the least left. https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers
 * @param exactUse what is used of each scope by all processes, where that is known better
 */
export function addRateLimitHeaders(
  headers: string[],
  scopes: readonly Scope[],
  second: number,
  exactUse: readonly ScopeUse[] | null = null,
): void {
  for (const kind of kinds) {
    let least: { limit: number; left: number; minute: SlidingMinute } | null = null;
    for (let index = 0; index < scopes.length; index++) {
      const scope = scopes[index];
      const limit = kind === "requests" ? scope?.requestsPerMinute : scope?.tokensPerMinute;
      if (!scope || !limit) continue;
      const minute = scope.meter[kind];
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
