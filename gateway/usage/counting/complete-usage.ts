import type { UsageStatus } from "../../../db/entities/usage-record.ts";
import type { TokenUsage } from "../../wire/chat-completion.ts";
import { estimateInputTokens } from "./estimate-input-tokens.ts";

/**
 * The counts of a request that an upstream received, with estimates for what the upstream did not report. Null where it
 * presumably did no work: a request that failed before it was answered. A request that the client left may have counts.
 * @param answer null where the upstream has not answered, or refused
 */
export function completeUsage(
  status: UsageStatus,
  answer: { readonly usage: TokenUsage | null; readonly tokens: number } | null,
  readBody: (() => Record<string, unknown>) | null,
): CompletedUsage | null {
  if (readBody === null || (status === "FAILED" && answer === null)) return null;
  const reported = answer?.usage ?? null;
  const inputTokens = reported?.inputTokens ?? estimateInputTokens(readBody());
  const outputTokens =
    status === "SUCCEEDED"
      ? (reported?.outputTokens ?? answer?.tokens ?? 0)
      : latestOf(reported?.outputTokens ?? 0, answer?.tokens ?? 0);
  if (reported?.inputTokens === inputTokens && reported.outputTokens === outputTokens) {
    return { usage: reported, estimated: false };
  }
  return { usage: { ...(reported ?? nothingReported), inputTokens, outputTokens }, estimated: true };
}

/** Tokens as usage records have them; null for unknown ones. */
export function usageColumns(counted: CompletedUsage | null) {
  const usage = counted?.usage;
  return {
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    cachedInputTokens: usage?.cachedInputTokens ?? null,
    cacheWriteInputTokens: usage?.cacheWriteInputTokens ?? null,
    reasoningTokens: usage?.reasoningTokens ?? null,
    estimated: counted?.estimated ?? false,
  };
}

type CompletedUsage = { usage: TokenUsage; estimated: boolean };

/**
 * Some upstreams report as they go, thoughts that are not shown included; Anthropic's reports a token or a few at the
 * beginning, and then nothing until the end.
 */
function latestOf(reported: number, estimated: number): number {
  return reported >= estimated / 2 ? reported : estimated;
}

const nothingReported = { cachedInputTokens: null, cacheWriteInputTokens: null, reasoningTokens: null };
