import type { LimitScope, UsageRecord } from "./read-usage-record.ts";

/** Who refused a request before any provider was asked, in words; null where nobody did. */
export function refusedBy({ attempts, status, errorCode, limitedBy }: UsageRecord): string | null {
  if (limitedBy !== null) {
    const what = errorCode === "insufficient_quota" ? "budget" : "limits";
    return `the ${what} of ${limitSubjects[limitedBy]}`;
  }
  // The code alone could be the provider's: theirs has the same name where an account is empty.
  return attempts === 0 && status === "FAILED" ? "the gateway, before any provider was asked" : null;
}

export const limitSubjects: Record<LimitScope, string> = {
  KEY: "this API key",
  PERSON: "its owner",
  GATEWAY: "the gateway",
};
