import { formatDuration } from "./format-duration.ts";
import type { Scope } from "./scope.ts";
import type { SlidingMinute } from "./sliding-minute.ts";
import type { ScopeUse } from "./valkey/valkey-limits.ts";

/**
 * `x-ratelimit-*`, names and values in turn, under OpenAI's names: of the limits that a request is under, the one that has
 * the least left. https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers
 * @param exactUse what is used of each scope by all processes, where that is known better
 */
export function rateLimitHeaders(
  scopes: readonly Scope[],
  now: number,
  exactUse: readonly ScopeUse[] | null = null,
): string[] {
  const headers: string[] = [];
  const second = Math.floor(now / 1000);
  for (const kind of kinds) {
    let least: { limit: number; left: number; minute: SlidingMinute } | null = null;
    for (const [index, scope] of scopes.entries()) {
      const limit = kind === "requests" ? scope.requestsPerMinute : scope.tokensPerMinute;
      if (limit === 0) continue;
      const minute = scope.meter[kind];
      const used = exactUse?.[index]?.[kind] ?? minute.used(second);
      const left = Math.max(0, Math.floor(limit - used));
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
