import type { GatewayError } from "../../errors.ts";
import type { TokenUsage } from "../../wire/chat-completion.ts";
import { type Prices, toCost } from "../counting/cost.ts";
import { estimateInputTokens } from "../counting/estimate-input-tokens.ts";
import type { UsageRecord } from "./segment.ts";

/** What a usage record keeps of a request, whatever its outcome. */
export type RecordedRequest = {
  readonly id: string;
  readonly createdAt: Date;
  /** By `performance.now()`. */
  readonly startedAt: number;
  readonly key: { id: string; name: string; ownerId: string | null };
  readonly endpoint: string;
  /** The client's coding tool; null for any other client. */
  readonly clientTool: string | null;
  /** Empty where the request's `model` may be something else than a name. */
  readonly requestedModel: string;
  readonly stream: boolean;
  /** Parses the body again. */
  readonly readBody: (() => Record<string, unknown>) | null;
  /** The last candidate that was tried. */
  readonly candidate: {
    providerName: string;
    credentialId: string | null;
    upstreamModel: { name: string };
    prices: Prices;
  } | null;
  readonly attempts: number;
  readonly call: { readonly wasSent: boolean } | null;
  /** Null where the upstream has not answered, or refused. */
  readonly answer: RecordedAnswer | null;
};

/** An upstream's answer with status 200, as far as it has come. */
export type RecordedAnswer = {
  /** An estimate of its output. */
  readonly tokens: number;
  /** The upstream's report, which is partial in an unfinished stream. */
  readonly usage: TokenUsage | null;
  /** By `performance.now()`. */
  readonly firstTokenAt: number | null;
};

export type Outcome = {
  status: UsageRecord["status"];
  httpStatus: number;
  error: GatewayError | null;
};

/** @param outcome null for a request whose process dies */
export function buildUsageRecord(request: RecordedRequest, outcome: Outcome | null = null): UsageRecord {
  const { key, candidate, answer, startedAt } = request;
  const error = outcome?.error ?? null;
  // A provider that received nothing of the request has no usage to record.
  const sentTo = outcome === null || request.call?.wasSent ? candidate : null;
  const counted = outcome && sentTo && completeUsage(request, outcome.status);
  const firstTokenAt = answer?.firstTokenAt ?? null;
  return {
    id: request.id,
    createdAt: request.createdAt,
    apiKeyId: key.id,
    apiKeyName: key.name,
    ownerId: key.ownerId,
    model: request.requestedModel,
    provider: candidate?.providerName ?? "",
    upstreamModel: candidate?.upstreamModel.name ?? null,
    credentialId: candidate?.credentialId ?? null,
    attempts: request.attempts,
    endpoint: request.endpoint,
    clientTool: request.clientTool,
    stream: request.stream,
    status: outcome?.status ?? "INTERRUPTED",
    httpStatus: outcome?.httpStatus ?? 500,
    // The upstream's code, where it is the upstream's error.
    errorCode: outcome ? (error?.upstream?.code ?? error?.code ?? null) : "gateway_died",
    limitedBy: error?.limitedBy ?? null,
    errorReason: error?.reason ?? null,
    ...usageColumns(counted),
    ...toCost(sentTo?.prices ?? null, counted?.usage ?? null),
    latencyMs: Math.round(performance.now() - startedAt),
    timeToFirstTokenMs: firstTokenAt && Math.round(firstTokenAt - startedAt),
  };
}

/**
 * The counts of a request that an upstream received, with estimates for what the upstream did not report. Null where it
 * presumably did no work: a request that failed before it was answered. A request that the client left may have counts.
 */
function completeUsage(
  { answer, readBody }: RecordedRequest,
  status: Outcome["status"],
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
function usageColumns(counted: CompletedUsage | null) {
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
