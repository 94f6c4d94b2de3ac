import type { toUsed } from "../counting/complete-usage.ts";
import type { FailureColumns } from "./failure-columns.ts";
import type { UsageRecord } from "./record-format.ts";

/** What a usage record keeps of a request, whatever its outcome. */
export type RecordedRequest = {
  id: string;
  createdAt: Date;
  /** By `performance.now()`. */
  startedAt: number;
  firstTokenAt: number | null;
  key: { id: string; name: string; ownerId: string | null };
  endpoint: string;
  /** The client's coding tool; null for any other client. */
  clientTool: string | null;
  /** Empty where the request's `model` may be something else than a name. */
  requestedModel: string;
  stream: boolean;
  /** The last candidate that was tried; null while there is none. */
  candidate: { providerName: string; credentialId: string | null; upstreamModel: { name: string } } | null;
  attempts: number;
};

export type Outcome = {
  status: UsageRecord["status"];
  httpStatus: number;
  failure: FailureColumns;
  used: ReturnType<typeof toUsed>;
};

export function buildUsageRecord(request: RecordedRequest, outcome: Outcome): UsageRecord {
  const { key, candidate, startedAt, firstTokenAt } = request;
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
    status: outcome.status,
    httpStatus: outcome.httpStatus,
    ...outcome.failure,
    ...outcome.used,
    latencyMs: Math.round(performance.now() - startedAt),
    timeToFirstTokenMs: firstTokenAt && Math.round(firstTokenAt - startedAt),
  };
}
