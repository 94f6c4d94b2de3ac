import { isObject } from "./json.ts";
import { readCount, readTerm, readTier, type UsageDetails, usageDetails } from "./usage-details.ts";

/** Null for a count that no report has. */
export type MessagesUsage = {
  /** Excludes tokens read from or written to a cache. */
  input: number | null;
  cached: number | null;
  cacheWrite: number | null;
  output: number | null;
  reasoning: number | null;
  details: UsageDetails | undefined;
};

/**
 * Usage of an Anthropic answer from all its reports: the first and the last event of a stream have one each. Counts are
 * running totals, so the largest is the latest. Null without any report.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching#tracking-cache-performance
 */
export function readMessagesUsage(...reports: unknown[]): MessagesUsage | null {
  const values = (name: string) => reports.map((report) => memberOf(report, name));
  const count = (name: string) => largest(values(name));
  const [input, output] = [count("input_tokens"), count("output_tokens")];
  if (input === null && output === null) return null;
  const within = (name: string, inner: string) =>
    largest(values(name).map((value) => memberOf(value, inner)));
  const term = (name: string) => values(name).findLast((value) => typeof value === "string");
  return {
    input,
    cached: count("cache_read_input_tokens"),
    cacheWrite: count("cache_creation_input_tokens"),
    output,
    reasoning: within("output_tokens_details", "thinking_tokens"),
    details: usageDetails({
      cacheWrite1hTokens: within("cache_creation", "ephemeral_1h_input_tokens") ?? 0,
      webSearches: within("server_tool_use", "web_search_requests") ?? 0,
      serviceTier: readTier(term("service_tier")),
      speed: readTerm(term("speed")),
      region: readTerm(term("inference_geo")),
    }),
  };
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : null;
}

function largest(values: unknown[]): number | null {
  const counts = values.flatMap((value) => readCount(value) ?? []);
  return counts.length > 0 ? Math.max(...counts) : null;
}
