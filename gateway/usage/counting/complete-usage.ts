import type { UsageStatus } from "../../../db/entities/usage-record.ts";
import type { TokenUsage } from "../../wire/chat-completion.ts";
import { type Prices, toCost } from "./cost.ts";
import { estimateInputTokens } from "./estimate-input-tokens.ts";

/** What of a request that is over tells its tokens. */
export type Told = {
  status: UsageStatus;
  /** What the upstream has reported, which in an unfinished stream can be a beginning only. */
  reported: TokenUsage | null;
  /** What has come back; null where the upstream has not answered, or refused. */
  said: { readonly tokens: number } | null;
  /** Reads the request's body, if an upstream was called with it. */
  asked: (() => Record<string, unknown>) | null;
};

/**
 * The counts of a request, with estimates for what its upstream did not report; null where none has worked on it. One that
 * failed before it answered has not, as far as can be known; one that was left alone may have.
 */
export function completeUsage({ status, reported, said, asked }: Told): CompletedUsage | null {
  if (asked === null || (status === "FAILED" && said === null)) return null;
  const inputTokens = reported?.inputTokens ?? estimateInputTokens(asked());
  const outputTokens =
    status === "SUCCEEDED"
      ? (reported?.outputTokens ?? said?.tokens ?? 0)
      : latestOf(reported?.outputTokens ?? 0, said?.tokens ?? 0);
  if (reported?.inputTokens === inputTokens && reported.outputTokens === outputTokens) {
    return { usage: reported, estimated: false };
  }
  return { usage: { ...(reported ?? nothingReported), inputTokens, outputTokens }, estimated: true };
}

/**
 * Tokens and cost as usage records have them; null for what is not known.
 * @param sent who got the request and what that costs; null where nothing of it went out
 */
export function toUsed(counted: CompletedUsage | null, sent: { prices: Prices } | null) {
  return { ...toCounts(counted), ...toCost(sent?.prices ?? null, counted?.usage ?? null) };
}

function toCounts(counted: CompletedUsage | null) {
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
function latestOf(reported: number, said: number): number {
  return reported >= said / 2 ? reported : said;
}

const nothingReported = { cachedInputTokens: null, cacheWriteInputTokens: null, reasoningTokens: null };
