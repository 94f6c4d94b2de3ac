import { readTokenUsage } from "../../wire/token-usage.ts";

/**
 * Anthropic's counts: `input_tokens` excludes cache reads and writes. A missing count becomes 0, because clients expect
 * numbers. https://platform.claude.com/docs/en/build-with-claude/prompt-caching#tracking-cache-performance
 */
export function formatUsage(usage: unknown): MessageUsage {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteInputTokens, reasoningTokens } =
    readTokenUsage(usage) ?? noCounts;
  const cached = cachedInputTokens ?? 0;
  const written = cacheWriteInputTokens ?? 0;
  return {
    input_tokens: Math.max(0, (inputTokens ?? 0) - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: outputTokens ?? 0,
    ...(reasoningTokens !== null && { output_tokens_details: { thinking_tokens: reasoningTokens } }),
  };
}

export type MessageUsage = {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  output_tokens: number;
  output_tokens_details?: { thinking_tokens: number };
};

const noCounts = {
  inputTokens: null,
  outputTokens: null,
  cachedInputTokens: null,
  cacheWriteInputTokens: null,
  reasoningTokens: null,
};
