import { askGraphql } from "#lib/session/graphql.ts";
import type { ErrorReason } from "./error-reasons.ts";

/** What the console knows of a record: the same fields wherever it asks for one. */
export const usageRecordFields = /* GraphQL */ `
  fragment UsageRecordFields on UsageRecord {
    id
    createdAt
    apiKeyId
    apiKeyName
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
    inputTokens
    outputTokens
    cachedInputTokens
    reasoningTokens
    estimated
    costUsd
    latencyMs
    timeToFirstTokenMs
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

/** An API key's own, one that all keys of its owner share, or one that all keys share. */
export type LimitScope = "KEY" | "PERSON" | "GATEWAY";

/** One request, as the books have it. Costs are US dollars, exact, as text; null where a price is unknown. */
export type UsageRecord = {
  id: string;
  createdAt: string;
  apiKeyId: string;
  apiKeyName: string;
  /** Null where the key was nobody's. */
  ownerName: string | null;
  model: string;
  provider: string;
  upstreamModel: string | null;
  /** How many times an upstream was called: 0 where the gateway refused the request itself. */
  attempts: number;
  endpoint: string;
  /** Null for any client but the coding tools. */
  clientTool: string | null;
  stream: boolean;
  status: UsageStatus;
  httpStatus: number;
  errorCode: string | null;
  /** Whose limit or budget refused it; null however else it ended. */
  limitedBy: LimitScope | null;
  /** Which limit it was, or how the provider failed; null where the code says it all. */
  errorReason: ErrorReason | null;
  inputTokens: number | null;
  outputTokens: number | null;
  cachedInputTokens: number | null;
  reasoningTokens: number | null;
  estimated: boolean;
  costUsd: string | null;
  latencyMs: number;
  timeToFirstTokenMs: number | null;
};

/** Null while it is not in the books yet, which takes a moment after the answer, and for requests of others. */
export async function readUsageRecord(id: string): Promise<UsageRecord | null> {
  const { usageRecord } = await askGraphql<{ usageRecord: UsageRecord | null }>(usageRecordDocument, { id });
  return usageRecord;
}
