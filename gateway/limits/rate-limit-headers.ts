import { formatDuration } from "./format-duration.ts";
import type { Scope } from "./scope.ts";
import type { SlidingMinute } from "./sliding-minute.ts";

/**
 * `x-ratelimit-*`, names and values in turn, under OpenAI's names: of the limits that a request is under, the one that has
 * the least left. https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers
 */
export function rateLimitHeaders(scopes: readonly Scope[], now: number): string[] {
  const headers: string[] = [];
  const second = Math.floor(now / 1000);
  for (const kind of kinds) {
    let least: { limit: number; left: number; minute: SlidingMinute } | null = null;
    for (const scope of scopes) {
      const limit = kind === "requests" ? scope.requestsPerMinute : scope.tokensPerMinute;
      if (limit === 0) continue;
      const minute = scope.meter[kind];
      const left = Math.max(0, Math.floor(limit - minute.used(second)));
      if (least === null || left < least.left) least = { limit, left, minute };
    }
    if (least === null) continue;
    const fullAt = least.minute.freeAt(second, 0);
    headers.push(
      ...[`x-ratelimit-limit-${kind}`, String(least.limit)],
      ...[`x-ratelimit-remaining-${kind}`, String(least.left)],
      ...[`x-ratelimit-reset-${kind}`, formatDuration(Math.max(0, fullAt * 1000 - now))],
    );
  }
  return headers;
}

const kinds = ["requests", "tokens"] as const;
