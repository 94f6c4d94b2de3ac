import {
  countNames,
  dimensionNames,
  keyDimensions,
  type UsageDimension,
  type UsageRecordRow,
} from "../entities/usage-record.ts";
import {
  allKeys,
  type Bucket,
  firstTokenBoundsMs,
  latencyBoundsMs,
  sumNames,
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
  return { ...sum, ...ofNoKey, apiKeyId: allKeys, apiKeyName: allKeys };
}

const ofNoKey = Object.fromEntries(keyDimensions.map((name) => [name, ""])) as Partial<UsageRollUpRow>;

type Part = { [Name in UsageDimension]: UsageRecordRow[Name] } & { apiKeyName: string } & (
    | { createdAt: Date }
    | { startsAt: Date }
  );

function sumOf<Given extends Part>(
  resolution: UsageResolution,
  parts: readonly Given[],
  add: (sum: UsageRollUpRow, part: Given) => void,
): Map<string, UsageRollUpRow> {
  const lengthMs = resolution === "day" ? 86_400_000 : 3_600_000;
  const sums = new Map<string, UsageRollUpRow>();
  for (const part of parts) {
    const moment = "createdAt" in part ? part.createdAt : part.startsAt;
    const startsAt = Math.floor(moment.getTime() / lengthMs) * lengthMs;
    let key = `${resolution}\n${startsAt}`;
    for (const name of dimensionNames) key += `\n${part[name] ?? ""}`;
    let sum = sums.get(key);
    if (sum === undefined) sums.set(key, (sum = nothing(resolution, new Date(startsAt), part)));
    sum.apiKeyName = part.apiKeyName;
    add(sum, part);
  }
  return sums;
}

function addRecord(sum: UsageRollUpRow, record: UsageRecordRow): void {
  sum.requests++;
  for (const name of countNames) sum[name] += record[name] ?? 0;
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

function nothing(resolution: UsageResolution, startsAt: Date, part: Part): UsageRollUpRow {
  const sum: UsageRollUpRow = { ...nothingAtAll, resolution, startsAt, apiKeyName: part.apiKeyName };
  for (const name of dimensionNames) (sum as Record<UsageDimension, string>)[name] = part[name] ?? "";
  return sum;
}

const nothingAtAll = Object.fromEntries([
  ...dimensionNames.map((name) => [name, ""]),
  ...sumNames.map((name) => [name, 0]),
]) as Omit<UsageRollUpRow, "resolution" | "startsAt" | "apiKeyName">;

/** Bounds are inclusive. The last bucket has no bound. */
export function bucketOf(ms: number, bounds: typeof latencyBoundsMs | typeof firstTokenBoundsMs): Bucket {
  const found = bounds.findIndex((bound) => ms <= bound);
  return (found === -1 ? bounds.length : found) as Bucket;
}
