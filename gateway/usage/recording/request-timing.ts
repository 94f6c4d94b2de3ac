import type { AttemptTiming, RequestTiming } from "../../../db/entities/usage-record.ts";

export type { AttemptTiming, RequestTiming };

/** Moments of `performance.now()`. */
export type TimedRequest = {
  readonly startedAt: number;
  /** The end of the body. */
  readonly receivedAt: number;
  /** The starts of the first and the last attempt. 0 before them. */
  readonly calledAt: number;
  readonly attemptedAt: number;
  readonly attempts: number;
  /** The attempts that another one can follow. */
  readonly failedAttempts: readonly AttemptTiming[] | null;
  /** The last attempted candidate. */
  readonly candidate: AttemptedCandidate | null;
};

type AttemptedCandidate = { providerName: string; upstreamModel: { name: string } };

/** Null for a request that started its only attempt at once, as most do: its latency has no other phases. */
export function timeRequest(request: TimedRequest): RequestTiming | null {
  const { startedAt, receivedAt, calledAt, attempts, failedAttempts, candidate } = request;
  if (candidate === null || (attempts === 1 && calledAt - startedAt < waitMsMin)) return null;
  const timings = failedAttempts?.slice() ?? [];
  const isLastMissing = timings.length < Math.min(attempts, attemptTimingsMax);
  if (isLastMissing) timings.push(timeAttempt(request, candidate, null));
  return { receivedMs: Math.round(receivedAt - startedAt), attempts: timings };
}

/** Times an attempt that ends now. */
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

/** A shorter upload and queue are not worth a column. */
const waitMsMin = 20;
