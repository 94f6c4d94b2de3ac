import type { UsageRecordRow } from "../entities/usage-record.ts";
import {
  allKeys,
  firstTokenBoundsMs,
  latencyBoundsMs,
  type UsageResolution,
  type UsageRollUpRow,
} from "../entities/usage-roll-up.ts";

/** The sums of the records for each hour and day, by key and for all keys together, in a fixed order. */
export function rollUp(records: readonly UsageRecordRow[]): UsageRollUpRow[] {
  const hours = sumOf("hour", records, addRecord);
  const days = sumOf("day", [...hours.values()], addSum);
  const allHours = sumOf("hour", [...hours.values()].map(ofAllKeys), addSum);
  const allDays = sumOf("day", [...allHours.values()], addSum);
  // A fixed lock order prevents deadlocks.
  return [...days, ...hours, ...allDays, ...allHours]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, sum]) => sum);
}

function ofAllKeys(sum: UsageRollUpRow): UsageRollUpRow {
  return { ...sum, apiKeyId: allKeys, apiKeyName: allKeys, ownerId: "" };
}

type Dimensions = Pick<
  UsageRecordRow,
  "apiKeyId" | "apiKeyName" | "ownerId" | "model" | "provider" | "status" | "clientTool" | "errorReason"
> &
  ({ createdAt: Date } | { startsAt: Date });

function sumOf<Part extends Dimensions>(
  resolution: UsageResolution,
  parts: readonly Part[],
  add: (sum: UsageRollUpRow, part: Part) => void,
): Map<string, UsageRollUpRow> {
  const lengthMs = resolution === "day" ? 86_400_000 : 3_600_000;
  const sums = new Map<string, UsageRollUpRow>();
  for (const part of parts) {
    const moment = "createdAt" in part ? part.createdAt : part.startsAt;
    const startsAt = Math.floor(moment.getTime() / lengthMs) * lengthMs;
    const { apiKeyId, ownerId, model, provider, status, clientTool, errorReason } = part;
    const key = `${resolution}\n${startsAt}\n${apiKeyId}\n${ownerId ?? ""}\n${model}\n${provider}\n${status}\n${clientTool ?? ""}\n${errorReason ?? ""}`;
    let sum = sums.get(key);
    if (sum === undefined) sums.set(key, (sum = nothing(resolution, new Date(startsAt), part)));
    sum.apiKeyName = part.apiKeyName;
    add(sum, part);
  }
  return sums;
}

function addRecord(sum: UsageRollUpRow, record: UsageRecordRow): void {
  sum.requests++;
  sum.inputTokens += record.inputTokens ?? 0;
  sum.outputTokens += record.outputTokens ?? 0;
  sum.cachedInputTokens += record.cachedInputTokens ?? 0;
  sum.cacheWriteInputTokens += record.cacheWriteInputTokens ?? 0;
  sum.reasoningTokens += record.reasoningTokens ?? 0;
  sum.cost += record.cost ?? 0;
  sum.markup += record.markup;
  sum.leastCost += record.costDetails?.least ?? 0;
  if (record.cost === null) sum.unknownCosts++;
  sum.latencyMs += record.latencyMs;
  sum[`latency${bucketOf(record.latencyMs, latencyBoundsMs)}`]++;
  if (record.timeToFirstTokenMs !== null)
    sum[`firstToken${bucketOf(record.timeToFirstTokenMs, firstTokenBoundsMs)}`]++;
}

function addSum(sum: UsageRollUpRow, part: UsageRollUpRow): void {
  for (const name of sumNames) sum[name] += part[name];
}

function nothing(resolution: UsageResolution, startsAt: Date, part: Dimensions): UsageRollUpRow {
  const { apiKeyId, apiKeyName, model, provider, status } = part;
  return {
    resolution,
    startsAt,
    apiKeyId,
    ownerId: part.ownerId ?? "",
    model,
    provider,
    status,
    clientTool: part.clientTool ?? "",
    errorReason: part.errorReason ?? "",
    apiKeyName,
    requests: 0,
    inputTokens: 0,
    outputTokens: 0,
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
    reasoningTokens: 0,
    cost: 0,
    unknownCosts: 0,
    latencyMs: 0,
    latency0: 0,
    latency1: 0,
    latency2: 0,
    latency3: 0,
    latency4: 0,
    latency5: 0,
    latency6: 0,
    latency7: 0,
    latency8: 0,
    latency9: 0,
    firstToken0: 0,
    firstToken1: 0,
    firstToken2: 0,
    firstToken3: 0,
    firstToken4: 0,
    firstToken5: 0,
    firstToken6: 0,
    firstToken7: 0,
    firstToken8: 0,
    firstToken9: 0,
    markup: 0,
    leastCost: 0,
  };
}

/** Bounds are inclusive. The last bucket has no bound. */
export function bucketOf(ms: number, bounds: typeof latencyBoundsMs | typeof firstTokenBoundsMs): Bucket {
  const found = bounds.findIndex((bound) => ms <= bound);
  return (found === -1 ? bounds.length : found) as Bucket;
}

type Bucket = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

type SumName = {
  [Name in keyof UsageRollUpRow]: UsageRollUpRow[Name] extends number ? Name : never;
}[keyof UsageRollUpRow];

export const sumNames: readonly SumName[] = [
  ...(["requests", "inputTokens", "outputTokens", "cachedInputTokens", "cacheWriteInputTokens"] as const),
  ...(["reasoningTokens", "cost", "markup", "leastCost", "unknownCosts", "latencyMs"] as const),
  ...(["latency0", "latency1", "latency2", "latency3", "latency4"] as const),
  ...(["latency5", "latency6", "latency7", "latency8", "latency9"] as const),
  ...(["firstToken0", "firstToken1", "firstToken2", "firstToken3", "firstToken4"] as const),
  ...(["firstToken5", "firstToken6", "firstToken7", "firstToken8", "firstToken9"] as const),
];
