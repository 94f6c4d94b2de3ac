import { isObject } from "./json.ts";

/** Null for a count that no report has. */
export type MessagesUsage = {
  /** Excludes tokens read from or written to a cache. */
  input: number | null;
  cached: number | null;
  cacheWrite: number | null;
  output: number | null;
  reasoning: number | null;
};

/**
 * Usage of an Anthropic answer from all its reports: the first and the last event of a stream have one each. Counts are
 * running totals, so the largest is the latest. Null without any report.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching#tracking-cache-performance
 */
export function readMessagesUsage(...reports: unknown[]): MessagesUsage | null {
  const count = (name: string) => largest(reports.map((report) => memberOf(report, name)));
  const [input, output] = [count("input_tokens"), count("output_tokens")];
  if (input === null && output === null) return null;
  const details = reports.map((report) => memberOf(report, "output_tokens_details"));
  return {
    input,
    cached: count("cache_read_input_tokens"),
    cacheWrite: count("cache_creation_input_tokens"),
    output,
    reasoning: largest(details.map((report) => memberOf(report, "thinking_tokens"))),
  };
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : null;
}

function largest(values: unknown[]): number | null {
  const counts = values.filter((value) => Number.isSafeInteger(value) && Number(value) >= 0).map(Number);
  return counts.length > 0 ? Math.max(...counts) : null;
}
