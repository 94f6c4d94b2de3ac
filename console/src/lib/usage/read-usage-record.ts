import { askGraphql } from "#lib/session/graphql.ts";
import type { ErrorReason } from "./error-reasons.ts";

export const usageRecordFields = /* GraphQL */ `
  fragment UsageRecordFields on UsageRecord {
    id
    createdAt
    apiKeyId
    apiKeyName
    ownerId
    ownerName
    model
    provider
    upstreamModel
    attempts
    endpoint
    clientTool
    stream
    status
    httpStatus
    errorCode
    limitedBy
    errorReason
    dropped
    inputTokens
    outputTokens
    cachedInputTokens
    reasoningTokens
    estimated
    costUsd
    chargeUsd
    latencyMs
    timeToFirstTokenMs
    timing {
      receivedMs
      attempts {
        provider
        model
        startMs
        durationMs
        failure
      }
    }
  }
`;

const usageRecordDocument = /* GraphQL */ `
  query UsageRecord($id: ID!) {
    usageRecord(id: $id) {
      ...UsageRecordFields
    }
  }
  ${usageRecordFields}
`;

export type UsageStatus = "SUCCEEDED" | "FAILED" | "CANCELLED" | "INTERRUPTED";

/** The scope of a limit: one key, the keys of its owner, or all keys. */
export type LimitScope = "KEY" | "PERSON" | "GATEWAY";

/** A request. Costs are exact US dollars as text, or null for an unpriced request. */
export type UsageRecord = {
  id: string;
  createdAt: string;
  apiKeyId: string;
  apiKeyName: string;
  /** Null for a key without an owner. */
  ownerId: string | null;
  ownerName: string | null;
  model: string;
  provider: string;
  upstreamModel: string | null;
  /** The number of upstream calls. 0 if the request never reached a provider. */
  attempts: number;
  endpoint: string;
  /** Null for clients other than coding tools. */
  clientTool: string | null;
  stream: boolean;
  status: UsageStatus;
  httpStatus: number;
  errorCode: string | null;
  /** The scope of the limit or budget that rejected the request. Null for any other outcome. */
  limitedBy: LimitScope | null;
  /** The limit that rejected the request, or the provider's failure. Null without details. */
  errorReason: ErrorReason | null;
  /** The parts of the request that its translation dropped. */
  dropped: string | null;
  inputTokens: number | null;
  outputTokens: number | null;
  cachedInputTokens: number | null;
  reasoningTokens: number | null;
  estimated: boolean;
  costUsd: string | null;
  /** The cost, multiplied by the factors of the provider and the key. */
  chargeUsd: string | null;
  latencyMs: number;
  timeToFirstTokenMs: number | null;
  /** Null without an attempt, if the only attempt started at once, and for old records. */
  timing: { receivedMs: number; attempts: AttemptTiming[] } | null;
};

/** `startMs` is relative to the start of the request. */
export type AttemptTiming = {
  provider: string;
  model: string;
  startMs: number;
  durationMs: number;
  /** Null for the attempt that decided the outcome. */
  failure: ErrorReason | null;
};

/** Null for a request that the user may not see, and until a new record is stored. */
export async function readUsageRecord(id: string): Promise<UsageRecord | null> {
  const { usageRecord } = await askGraphql<{ usageRecord: UsageRecord | null }>(usageRecordDocument, { id });
  return usageRecord;
}

/** Whether the request failed before a provider responded, so that it has no tokens. */
export function isUnanswered({
  status,
  inputTokens,
  outputTokens,
  timeToFirstTokenMs,
}: UsageRecord): boolean {
  return status === "FAILED" && inputTokens === null && outputTokens === null && timeToFirstTokenMs === null;
}
