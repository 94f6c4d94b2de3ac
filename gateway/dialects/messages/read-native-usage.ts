import { isObject, readTokenUsage, type TokenUsage } from "../../wire/chat-completion.ts";

/**
 * What has been used, by all the reports of one answer: the first event of a stream has one, the last another. The counts
 * are running totals, so the largest is the latest. What is read from a cache or written to it is not in `input_tokens`.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching#tracking-cache-performance
 */
export function readNativeUsage(...reports: unknown[]): TokenUsage | null {
  const count = (name: string) => largest(reports.map((report) => fieldsOf(report)[name]));
  const input = count("input_tokens");
  const output = count("output_tokens");
  if (input === null && output === null) return null;
  const cached = count("cache_read_input_tokens");
  const written = count("cache_creation_input_tokens");
  return readTokenUsage({
    prompt_tokens: input === null ? null : input + (cached ?? 0) + (written ?? 0),
    completion_tokens: output,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    completion_tokens_details: {
      reasoning_tokens: largest(
        reports.map((report) => fieldsOf(fieldsOf(report)["output_tokens_details"])["thinking_tokens"]),
      ),
    },
  });
}

function largest(values: unknown[]): number | null {
  const counts = values.filter((value) => Number.isSafeInteger(value) && Number(value) >= 0).map(Number);
  return counts.length > 0 ? Math.max(...counts) : null;
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
