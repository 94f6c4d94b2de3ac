import { capitalize, limitWords } from "./error-reasons.ts";
import type { LimitScope, UsageRecord } from "./read-usage-record.ts";

/** The limit, budget or gateway that rejected a request before routing. Null for any other request. */
export function refusedBy(record: UsageRecord): string | null {
  const limit = limitOf(record);
  if (limit !== null) return capitalize(limit);
  // `errorCode` is ambiguous, because a provider can also return `insufficient_quota`.
  const { attempts, status } = record;
  return attempts === 0 && status === "FAILED" ? "Gateway (before routing)" : null;
}

/** The limit or budget that rejected a request, and its holder. Null for any other request. */
export function limitOf({ limitedBy, errorReason }: UsageRecord): string | null {
  return limitedBy && `${holders[limitedBy]} ${limitWords(errorReason) ?? "limits"}`;
}

const holders: Record<LimitScope, string> = {
  KEY: "API key's",
  PERSON: "owner's",
  GATEWAY: "gateway's",
};
