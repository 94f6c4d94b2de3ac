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

/** A request. Costs are exact US dollars as text. They are null for an unknown price or token count. */
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
  /** The limit that rejected the request, the failure of the provider call, or the gateway's own error code. */
  errorReason: ErrorReason | null;
  /** The parts of the request that the gateway left out, because the provider does not support them. */
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
  /** Null if the only attempt started at once, or if no attempt was timed. */
  timing: { receivedMs: number; attempts: AttemptTiming[] } | null;
};

/** `startMs` is relative to the start of the request. */
export type AttemptTiming = {
  provider: string;
  model: string;
  startMs: number;
  durationMs: number;
  /** The failure that allowed another attempt. Null for any other outcome. */
  failure: ErrorReason | null;
};

/** Null if no record with this ID is visible to the user. A new record appears after a moment. */
export async function readUsageRecord(id: string): Promise<UsageRecord | null> {
  const { usageRecord } = await askGraphql<{ usageRecord: UsageRecord | null }>(usageRecordDocument, { id });
  return usageRecord;
}

export function isUnanswered({
  status,
  inputTokens,
  outputTokens,
  timeToFirstTokenMs,
}: UsageRecord): boolean {
  return status === "FAILED" && inputTokens === null && outputTokens === null && timeToFirstTokenMs === null;
}
