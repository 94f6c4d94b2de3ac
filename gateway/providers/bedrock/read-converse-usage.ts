import { type ChatUsage, isObject } from "../../wire/chat-completion.ts";

/**
 * Converse counts what came from the cache and what was written to it apart from `inputTokens`, and does not tell how much
 * was thought. https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
export function readConverseUsage(usage: unknown): ChatUsage | null {
  if (!isObject(usage)) return null;
  const { inputTokens, outputTokens, cacheReadInputTokens, cacheWriteInputTokens } = usage;
  if (!isCount(inputTokens) || !isCount(outputTokens)) return null;
  const cached = isCount(cacheReadInputTokens) ? cacheReadInputTokens : 0;
  const written = isCount(cacheWriteInputTokens) ? cacheWriteInputTokens : 0;
  const promptTokens = inputTokens + cached + written;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: outputTokens,
    total_tokens: promptTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
