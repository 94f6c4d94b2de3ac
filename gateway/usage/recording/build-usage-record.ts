import type { AttemptTiming, RequestTiming } from "../../../db/entities/usage-record.ts";
import type { TokenUsage } from "../../wire/token-usage.ts";
import type { GatewayError } from "../../errors.ts";
import { type Prices, toCost } from "../counting/cost.ts";
import { estimateInputTokens } from "../counting/estimate-input-tokens.ts";
import type { UsageRecord } from "./spool.ts";

export type RecordedRequest = TimedRequest & {
  readonly id: string;
  readonly createdAt: Date;
  readonly key: { id: string; name: string; ownerId: string | null; chargeFactor: number | null };
  readonly endpoint: string;
  /** The detected client tool, such as `claude-code`. Null for an unknown client. */
  readonly clientTool: string | null;
  /** Empty for a missing name, or a name that `RecordedModelNames` rejects. */
  readonly requestedModel: string;
  readonly stream: boolean;
  /** Returns the parsed request body, for the estimate of its tokens. Null before the body is read. */
  readonly readBody: (() => Record<string, unknown>) | null;
  /** The last attempted candidate. */
  readonly candidate: {
    providerName: string;
    credentialId: string | null;
    upstreamModel: { name: string };
    prices: Prices;
    costSource: "provider" | null;
    chargeFactor: number | null;
  } | null;
  /** `dropped`: the names of the dropped parts of the request, separated by commas. */
  readonly call: { readonly mayCost: boolean; readonly dropped: string | null } | null;
  /** Null unless an upstream returned status 200 and usable headers. */
  readonly answer: RecordedAnswer | null;
};

/** The received part of an upstream's answer with status 200. */
export type RecordedAnswer = {
  /** The estimated output tokens. */
  readonly tokens: number;
  /** The upstream's report. May be partial in an unfinished stream. */
  readonly usage: TokenUsage | null;
  /** A timestamp from `performance.now()`. Null before the first token. */
  readonly firstTokenAt: number | null;
};

export type Outcome = {
  status: UsageRecord["status"];
  httpStatus: number;
  error: GatewayError | null;
};

/** @param outcome null for the record that counts if the process dies */
export function buildUsageRecord(request: RecordedRequest, outcome: Outcome | null = null): UsageRecord {
  const { key, candidate, answer, startedAt } = request;
  const error = outcome?.error ?? null;
  // After a crash, a provider may have processed the request, so its cost is unknown instead of 0.
  const sentTo = outcome === null || request.call?.mayCost ? candidate : null;
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
    errorCode: outcome ? (error?.upstream?.code ?? error?.code ?? null) : "gateway_died",
    limitedBy: error?.limitedBy ?? null,
    // Never the upstream's code, which may be any text.
    errorReason: outcome ? (error?.reason ?? error?.code ?? null) : "gateway_died",
    dropped: request.call?.dropped ?? null,
    ...usageColumns(counted),
    ...toCost(sentTo?.prices ?? null, counted?.usage ?? null, {
      costSource: candidate?.costSource ?? null,
      chargeFactor: chargeFactorOf(key) * chargeFactorOf(candidate),
      at: request.createdAt,
    }),
    latencyMs: Math.round(performance.now() - startedAt),
    timeToFirstTokenMs: firstTokenAt && Math.round(firstTokenAt - startedAt),
    // A running request's record has no timing, because long names could exceed the record's slot on disk.
    timing: outcome && timeRequest(request),
  };
}

/** Converts ten-thousandths, the stored unit, to a factor. */
function chargeFactorOf(billed: { chargeFactor: number | null } | null): number {
  return (billed?.chargeFactor ?? 10_000) / 10_000;
}

/**
 * Estimates missing token counts. Null if the body was never read, or if the request failed before an answer:
 * the upstream then presumably did no work.
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
 * A report far below the estimate is outdated: Anthropic counts the output only at the end of a stream. Other
 * reports may include hidden reasoning, which the estimate lacks.
 */
function latestOf(reported: number, estimated: number): number {
  return reported >= estimated / 2 ? reported : estimated;
}

const nothingReported = { cachedInputTokens: null, cacheWriteInputTokens: null, reasoningTokens: null };

export type { AttemptTiming, RequestTiming };

/** The members that end in `At` are timestamps from `performance.now()`. */
export type TimedRequest = {
  readonly startedAt: number;
  /** When the request body was complete. */
  readonly receivedAt: number;
  /** `calledAt` and `attemptedAt`: the start of the first and of the latest attempt, 0 without an attempt. */
  readonly calledAt: number;
  readonly attemptedAt: number;
  readonly attempts: number;
  /** The first failed attempts with a retryable error, at most `attemptTimingsMax`. Null if none. */
  readonly failedAttempts: readonly AttemptTiming[] | null;
  readonly candidate: AttemptedCandidate | null;
};

type AttemptedCandidate = { providerName: string; upstreamModel: { name: string } };

/** Null without an attempt, or if the only attempt started at once: the latency then has a single phase. */
export function timeRequest(request: TimedRequest): RequestTiming | null {
  const { startedAt, receivedAt, calledAt, attempts, failedAttempts, candidate } = request;
  if (candidate === null || (attempts === 1 && calledAt - startedAt < waitMsMin)) return null;
  const timings = failedAttempts?.slice() ?? [];
  const isLastMissing = timings.length < Math.min(attempts, attemptTimingsMax);
  if (isLastMissing) timings.push(timeAttempt(request, candidate, null));
  return { receivedMs: Math.round(receivedAt - startedAt), attempts: timings };
}

export function timeAttempt(
  { startedAt, attemptedAt }: Pick<TimedRequest, "startedAt" | "attemptedAt">,
  { providerName, upstreamModel }: AttemptedCandidate,
  failure: string | null,
): AttemptTiming {
  return {
    provider: providerName,
    model: upstreamModel.name,
    startMs: Math.round(attemptedAt - startedAt),
    durationMs: Math.round(performance.now() - attemptedAt),
    failure,
  };
}

/** Later attempts are only counted. */
export const attemptTimingsMax = 8;

/** A request whose only attempt starts sooner has no timing. */
const waitMsMin = 20;
