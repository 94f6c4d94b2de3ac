import { type ChatUsage, isObject } from "../../wire/chat-completion.ts";

/**
 * Gemini counts apart what OpenAI counts together: thoughts are no part of the candidates, nor results of Google's own
 * tools of the prompt; what came from a cache is. https://ai.google.dev/api/generate-content#UsageMetadata
 */
export function readUsage(metadata: unknown): ChatUsage | null {
  if (!isObject(metadata)) return null;
  const promptTokens = countIn(metadata, "promptTokenCount") + countIn(metadata, "toolUsePromptTokenCount");
  const reasoningTokens = countIn(metadata, "thoughtsTokenCount");
  const completionTokens = countIn(metadata, "candidatesTokenCount") + reasoningTokens;
  // Some events have metadata without any count.
  if (promptTokens + completionTokens === 0) return null;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: countIn(metadata, "cachedContentTokenCount") },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}

/** Google's JSON leaves out what is 0. */
function countIn(metadata: Record<string, unknown>, name: string): number {
  const value = metadata[name];
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}
