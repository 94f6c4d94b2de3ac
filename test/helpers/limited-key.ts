import { readConfig } from "../../gateway/config/config.ts";
import type { GatewayError } from "../../gateway/errors.ts";
import type { LimitColumns } from "../../db/entities/limits.ts";
import { noLimitColumns, ownLimits } from "../../gateway/limits/limit-table.ts";
import type { Admission } from "../../gateway/limits/rates/admission.ts";
import type { LimitedKey } from "../../gateway/limits/holders.ts";
import type { UsageRecord } from "../../gateway/usage/recording/spool.ts";
import { usageRow } from "./open-test-database.ts";

export function limitedKey(
  id: string,
  limits: Partial<LimitColumns>,
  ownerId: string | null = null,
): LimitedKey {
  return { id, ownerId, teamId: null, limits: ownLimits({ ...noLimitColumns, ...limits }) };
}

export class LimitedRequest {
  admission: Admission | null = null;
  readonly key: LimitedKey;
  readonly fail: (error: GatewayError) => void;

  constructor(key: LimitedKey, fail: (error: GatewayError) => void = () => {}) {
    this.key = key;
    this.fail = fail;
  }

  admitting(admission: Admission): void {
    this.admission = admission;
  }
}

export function limitsOf(environment: Record<string, string> = {}) {
  return readConfig(environment).limits;
}

export const noBudgets = {
  applyTo: () => false,
  check() {},
  findBlocking: () => null,
  reserve: () => null,
  linesOf: () => [],
  spend() {},
};

export function overRecord(apiKeyId: string, more: Partial<UsageRecord> = {}): UsageRecord {
  return usageRow("req_1", { apiKeyId, ...more });
}
