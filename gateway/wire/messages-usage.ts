import { isObject } from "./json.ts";

/** Null where no report has the count. */
export type MessagesUsage = {
  /** Without what is read from a cache or written to it. */
  input: number | null;
  cached: number | null;
  cacheWrite: number | null;
  output: number | null;
  reasoning: number | null;
};

/**
 * The usage of one of Anthropic's answers, by all of its reports: the first event of a stream has one, the last another. The
 * counts are running totals, so the largest is the latest. Null if nothing was reported.
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
