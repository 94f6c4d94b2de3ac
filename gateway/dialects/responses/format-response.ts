import { readTokenUsage } from "../../wire/token-usage.ts";
import type { ChatUsage, FinishReason } from "../../wire/chat-completion.ts";
import type { AnswerEnvelope } from "../dialect.ts";

export type ResponseState = {
  status: "in_progress" | "completed" | "incomplete" | "failed";
  output: readonly object[];
  /** Null while unknown. A finished response without usage, such as a warm-up, reports zeros. */
  usage: Partial<ChatUsage> | null;
  incompleteReason?: IncompleteReason | null;
  error?: { code: string; message: string };
};

/** Declares only the members that the gateway reads. */
export type FormattedResponse = { id: string; output: readonly object[] };

export type IncompleteReason = "max_output_tokens" | "content_filter";

/**
 * https://platform.openai.com/docs/api-reference/responses/object
 * @param echo the repeated members of the request
 */
export function formatResponse(
  { id, createdSeconds, nowSeconds, slug }: AnswerEnvelope,
  echo: object,
  { status, output, usage, incompleteReason, error }: ResponseState,
): FormattedResponse {
  const isAtEnd = status === "completed" || status === "incomplete";
  const response = {
    id: `resp_${idSuffix(id)}`,
    object: "response",
    created_at: createdSeconds,
    completed_at: status === "completed" ? nowSeconds() : null,
    status,
    background: false,
    error: error ?? null,
    incomplete_details: incompleteReason ? { reason: incompleteReason } : null,
    model: slug,
    output,
    ...echo,
    usage: isAtEnd ? formatUsage(usage) : null,
  };
  return response;
}

export function idSuffix(requestId: string): string {
  return requestId.replace(/^req_/, "");
}

export function incompleteReasonOf(finishReason: FinishReason | null): IncompleteReason | null {
  if (finishReason === "length") return "max_output_tokens";
  return finishReason === "content_filter" ? "content_filter" : null;
}

/** Clients require every member, so missing counts become 0. */
export function formatUsage(usage: Partial<ChatUsage> | null): object {
  const counts = readTokenUsage(usage);
  const input = counts?.inputTokens ?? 0;
  const output = counts?.outputTokens ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: counts?.cachedInputTokens ?? 0,
      cache_write_tokens: counts?.cacheWriteInputTokens ?? 0,
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: counts?.reasoningTokens ?? 0 },
    total_tokens: input + output,
  };
}
