/**
 * The form everything inside speaks: OpenAI's chat completions. Only what the gateway itself reads is spelled out.
 * https://platform.openai.com/docs/api-reference/chat
 */
export type ChatRequestBody = {
  model: string;
  messages: ChatMessage[];
  stream?: boolean | null;
  stream_options?: { include_usage?: boolean } | null;
  [field: string]: unknown;
};

export type ChatMessage = {
  role: ChatRole;
  content?: string | { type: string; [field: string]: unknown }[] | null;
  [field: string]: unknown;
};

export const chatRoles = ["system", "developer", "user", "assistant", "tool", "function"] as const;

type ChatRole = (typeof chatRoles)[number];

/** Token counts of one completion; null where nobody said. */
export type TokenUsage = {
  inputTokens: number | null;
  outputTokens: number | null;
  cachedInputTokens: number | null;
  reasoningTokens: number | null;
};

/** Reads a chat completion's `usage`. What is not a count is taken for not said: upstreams are lenient with this field. */
export function readTokenUsage(usage: unknown): TokenUsage | null {
  if (!isObject(usage)) return null;
  const input = isObject(usage["prompt_tokens_details"]) ? usage["prompt_tokens_details"] : {};
  const output = isObject(usage["completion_tokens_details"]) ? usage["completion_tokens_details"] : {};
  return {
    inputTokens: toCount(usage["prompt_tokens"]),
    outputTokens: toCount(usage["completion_tokens"]),
    cachedInputTokens: toCount(input["cached_tokens"]),
    reasoningTokens: toCount(output["reasoning_tokens"]),
  };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toCount(value: unknown): number | null {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 2 ** 31 - 1
    ? (value as number)
    : null;
}
