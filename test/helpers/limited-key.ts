import { readConfig } from "../../gateway/config/config.ts";
import { enforcedLimits, type LimitColumns, noLimitColumns } from "../../gateway/limits/key-limits.ts";
import type { LimitedKey } from "../../gateway/limits/rates/limiter.ts";
import type { UsageRecord } from "../../gateway/usage/recording/record-format.ts";
import { usageRow } from "./open-test-database.ts";

export function limitedKey(
  id: string,
  limits: Partial<LimitColumns>,
  ownerId: string | null = null,
): LimitedKey {
  return { id, ownerId, limits: enforcedLimits({ ...noLimitColumns, ...limits }) };
}

/** The limits of a gateway whose environment says only this. */
export function limitsOf(environment: Record<string, string> = {}) {
  return readConfig(environment).limits;
}

export const noBudgets = { check() {}, spend() {} };

/** The record of a request that is over. */
export function overRecord(apiKeyId: string, more: Partial<UsageRecord> = {}): UsageRecord {
  return usageRow("req_1", { apiKeyId, ...more });
}
