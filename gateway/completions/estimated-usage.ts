import type { ChatUsage } from "../wire/chat-completion.ts";
import { answerNames, OutputMeter } from "../usage/counting/token-meter.ts";

/**
 * Fills in the counts that the upstream did not report, with the estimates of the usage record. Clients compute costs
 * and context sizes from the counts, so 0 would be wrong.
 */
export function withEstimates(usage: Partial<ChatUsage> | null, estimate: TokenEstimate): ChatUsage {
  const promptTokens = usage?.prompt_tokens ?? estimate.inputTokens();
  const completionTokens = usage?.completion_tokens ?? estimate.outputTokens();
  const isReported = usage?.prompt_tokens !== undefined && usage.completion_tokens !== undefined;
  const total = isReported ? usage.total_tokens : undefined;
  return {
    ...usage,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: total ?? promptTokens + completionTokens,
  };
}

export type TokenEstimate = { inputTokens: () => number; outputTokens: () => number };

/** Estimates the output tokens of a whole answer in any dialect. */
export function estimateAnswerTokens(answer: Buffer): number {
  const meter = new OutputMeter(answerNames());
  const text = answer.toString("latin1");
  meter.read(text, 0, text.length);
  return meter.tokens;
}
