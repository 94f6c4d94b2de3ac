import type { UsageRecordRow } from "../entities/usage-record.ts";
import {
  latencyBoundsMs,
  type UsageResolution,
  type UsageRollUpRow,
  usageResolutions,
} from "../entities/usage-roll-up.ts";

/** The sums of the records, for each hour, day and month, in the order of the table's key. */
export function rollUp(records: readonly UsageRecordRow[]): UsageRollUpRow[] {
  const sums = new Map<string, UsageRollUpRow>();
  for (const record of records) {
    for (const resolution of usageResolutions) {
      const startsAt = startOf(resolution, record.createdAt);
      const { apiKeyId, ownerId, model, provider, status } = record;
      const key = `${resolution}\n${startsAt}\n${apiKeyId}\n${ownerId ?? ""}\n${model}\n${provider}\n${status}`;
      let sum = sums.get(key);
      if (sum === undefined) sums.set(key, (sum = nothing(resolution, new Date(startsAt), record)));
      add(sum, record);
    }
  }
  // Whoever writes several rows at once locks them in the same order as everybody else.
  return [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum);
}

function add(sum: UsageRollUpRow, record: UsageRecordRow): void {
  sum.apiKeyName = record.apiKeyName;
  sum.requests++;
  sum.inputTokens += record.inputTokens ?? 0;
  sum.outputTokens += record.outputTokens ?? 0;
  sum.cachedInputTokens += record.cachedInputTokens ?? 0;
  sum.cacheWriteInputTokens += record.cacheWriteInputTokens ?? 0;
  sum.reasoningTokens += record.reasoningTokens ?? 0;
  sum.cost += record.cost ?? 0;
  if (record.cost === null) sum.unknownCosts++;
  sum.latencyMs += record.latencyMs;
  sum[latencyColumn(record.latencyMs)]++;
}

function nothing(resolution: UsageResolution, startsAt: Date, record: UsageRecordRow): UsageRollUpRow {
  const { apiKeyId, apiKeyName, model, provider, status } = record;
  return {
    ...{ resolution, startsAt, apiKeyId, ownerId: record.ownerId ?? "", model, provider, status, apiKeyName },
    ...{ requests: 0, inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteInputTokens: 0 },
    ...{ reasoningTokens: 0, cost: 0, unknownCosts: 0, latencyMs: 0 },
    ...{ latency0: 0, latency1: 0, latency2: 0, latency3: 0, latency4: 0 },
    ...{ latency5: 0, latency6: 0, latency7: 0, latency8: 0, latency9: 0 },
  };
}

function startOf(resolution: UsageResolution, moment: Date): number {
  if (resolution === "month") return Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth());
  const lengthMs = resolution === "day" ? 86_400_000 : 3_600_000;
  return Math.floor(moment.getTime() / lengthMs) * lengthMs;
}

function latencyColumn(latencyMs: number): LatencyColumn {
  const found = latencyBoundsMs.findIndex((bound) => latencyMs <= bound);
  return `latency${found === -1 ? latencyBoundsMs.length : found}` as LatencyColumn;
}

type LatencyColumn = Extract<keyof UsageRollUpRow, `latency${number}`>;
