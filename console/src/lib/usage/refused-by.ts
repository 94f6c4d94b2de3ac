import { limitWords } from "./error-reasons.ts";
import type { LimitScope, UsageRecord } from "./read-usage-record.ts";

/** The limit, budget or gateway that rejected a request before routing. Null for any other request. */
export function refusedBy(record: UsageRecord): string | null {
  const limit = limitOf(record);
  if (limit !== null) return `the ${limit}`;
  // `errorCode` is ambiguous, because a provider can also return `insufficient_quota`.
  const { attempts, status } = record;
  return attempts === 0 && status === "FAILED" ? "Gateway (rejected before routing)" : null;
}

/** The limit or budget that rejected a request, and its holder. Null for any other request. */
export function limitOf({ limitedBy, errorReason }: UsageRecord): string | null {
  return limitedBy && `${limitWords(errorReason) ?? "limits"} of ${limitSubjects[limitedBy]}`;
}

const limitSubjects: Record<LimitScope, string> = {
  KEY: "this API key",
  PERSON: "its owner",
  GATEWAY: "the gateway",
};
