import { type ChatUsage, isObject } from "../../wire/chat-completion.ts";

/**
 * What has been used, by all the reports of one answer: the first event of a stream has one, the last another. The counts
 * are running totals, so the largest is the latest. What is read from a cache or written to it is not in `input_tokens`.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching#tracking-cache-performance
 */
export function readUsage(...reports: unknown[]): ChatUsage | null {
  const count = (read: (report: Record<string, unknown>) => unknown) => latestCount(reports, read);
  const input = count((report) => report["input_tokens"]);
  const output = count((report) => report["output_tokens"]);
  if (input === null && output === null) return null;
  const cached = count((report) => report["cache_read_input_tokens"]);
  const cacheWrite = count((report) => report["cache_creation_input_tokens"]);
  const reasoning = count(({ output_tokens_details: details }) =>
    isObject(details) ? details["thinking_tokens"] : null,
  );
  const prompt = (input ?? 0) + (cached ?? 0) + (cacheWrite ?? 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: output ?? 0,
    total_tokens: prompt + (output ?? 0),
    prompt_tokens_details: {
      ...(cached !== null && { cached_tokens: cached }),
      ...(cacheWrite !== null && { cache_write_tokens: cacheWrite }),
    },
    ...(reasoning !== null && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

function latestCount(reports: unknown[], read: (report: Record<string, unknown>) => unknown): number | null {
  const counts = reports.map((report) => (isObject(report) ? read(report) : null)).filter(isCount);
  return counts.length > 0 ? Math.max(...counts) : null;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
