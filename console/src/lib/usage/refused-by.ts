import { limitWords } from "./error-reasons.ts";
import type { LimitScope, UsageRecord } from "./read-usage-record.ts";

/** Who refused a request before any provider was asked, in words; null where nobody did. */
export function refusedBy(record: UsageRecord): string | null {
  const limit = limitOf(record);
  if (limit !== null) return `the ${limit}`;
  // The code alone could be the provider's: theirs has the same name where an account is empty.
  const { attempts, status } = record;
  return attempts === 0 && status === "FAILED" ? "Gateway (rejected before routing)" : null;
}

/** The limit or budget that refused a request, and whose it is; null where none did. */
export function limitOf({ limitedBy, errorReason }: UsageRecord): string | null {
  return limitedBy && `${limitWords(errorReason) ?? "limits"} of ${limitSubjects[limitedBy]}`;
}

const limitSubjects: Record<LimitScope, string> = {
  KEY: "this API key",
  PERSON: "its owner",
  GATEWAY: "the gateway",
};
