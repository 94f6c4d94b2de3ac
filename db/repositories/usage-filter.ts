import type { UsageStatus } from "../entities/usage-record.ts";
import { allKeys, latencyBoundsMs } from "../entities/usage-roll-up.ts";
import type { OwnerScope } from "./api-key-filter.ts";

/**
 * `owner` is the user's permission, not a filter of the request. In other members, an empty string selects
 * records without the value.
 */
export type UsageFilter = {
  owner: OwnerScope;
  ownerId?: string | undefined;
  apiKeyId?: string | undefined;
  model?: string | undefined;
  provider?: string | undefined;
  statuses?: readonly UsageStatus[] | undefined;
  clientTool?: string | undefined;
  errorReason?: string | undefined;
} & RecordFacts;

/** Conditions that roll-ups cannot apply exactly. `httpStatusClass` is the first digit of the HTTP status. */
type RecordFacts = { httpStatusClass?: number | undefined; minLatencyMs?: number | undefined };

export type UsageCondition = Exclude<keyof UsageFilter, keyof RecordFacts>;

export const usageConditions = [
  ...(["owner", "ownerId", "apiKeyId", "model", "provider", "statuses", "clientTool"] as const),
  "errorReason",
] as const satisfies readonly UsageCondition[];

export type UsageDimension = keyof typeof dimensionColumns;

export const dimensionColumns = {
  apiKeyId: "api_key_id",
  ownerId: "owner_id",
  model: "model",
  provider: "provider",
  status: "status",
  clientTool: "client_tool",
  errorReason: "error_reason",
};

/** Dimensions that may be missing: null in records, empty in roll-ups. */
export const nullableDimensions = new Set<UsageDimension>(["ownerId", "clientTool", "errorReason"]);

export class Conditions {
  readonly #conditions: string[] = [];
  readonly parameters: unknown[] = [];

  constructor({ owner, apiKeyId, model, provider, statuses }: UsageFilter) {
    if (owner !== "everyone") this.add("owner_id = ?", owner.ownerId);
    if (apiKeyId !== undefined) this.add("api_key_id = ?", apiKeyId);
    if (model !== undefined) this.add("model = ?", model);
    if (provider !== undefined) this.add("provider = ?", provider);
    if (statuses?.length === 1) this.add("status = ?", statuses[0]);
    else if (statuses) {
      // An empty list matches nothing: no record has an empty status.
      const values = statuses.length === 0 ? [""] : statuses;
      this.add(`status IN (${values.map(() => "?").join(", ")})`, ...values);
    }
  }

  add(condition: string, ...values: unknown[]): this {
    this.#conditions.push(condition);
    this.parameters.push(...values);
    return this;
  }

  get sql(): string {
    return this.#conditions.length > 0 ? `WHERE ${this.#conditions.join(" AND ")}` : "";
  }
}

export function recordConditions(filter: UsageFilter): Conditions {
  const where = new Conditions(filter);
  for (const [column, value] of nullableColumns(filter)) {
    if (value === "") where.add(`${column} IS NULL`);
    else if (value !== undefined) where.add(`${column} = ?`, value);
  }
  const { httpStatusClass, minLatencyMs } = filter;
  if (httpStatusClass !== undefined)
    where.add("http_status >= ? AND http_status < ?", httpStatusClass * 100, httpStatusClass * 100 + 100);
  if (minLatencyMs !== undefined) where.add("latency_ms >= ?", minLatencyMs);
  return where;
}

/**
 * Some roll-ups sum all keys. Queries that filter or group by key or owner exclude these rows. All other
 * queries read only these rows.
 */
export function rollUpConditions(filter: UsageFilter, groupBy: readonly UsageDimension[] = []): Conditions {
  const where = new Conditions(filter);
  for (const [column, value] of nullableColumns(filter))
    if (value !== undefined) where.add(`${column} = ?`, value);
  const { owner, apiKeyId } = filter;
  if (owner !== "everyone" || apiKeyId) return where;
  return where.add(`api_key_id ${isByKey(filter, groupBy) ? "<>" : "="} ?`, allKeys);
}

/**
 * `where` selects roll-ups that may contain matches. `certain` is an SQL expression for the number of certain
 * matches.
 */
export function possibleMatches(filter: UsageFilter): { where: Conditions; certain: string } {
  const where = rollUpConditions(filter);
  const { minLatencyMs, httpStatusClass } = filter;
  let certain = httpStatusClass === undefined ? "requests" : "0";
  if (minLatencyMs !== undefined) {
    const buckets = Array.from({ length: latencyBoundsMs.length + 1 }, (_, index) => index);
    const sumOf = (indices: number[]) => indices.map((index) => `latency${index}`).join(" + ") || "0";
    where.add(
      `${sumOf(buckets.filter((index) => (latencyBoundsMs[index] ?? Infinity) >= minLatencyMs))} > 0`,
    );
    if (httpStatusClass === undefined)
      certain = sumOf(buckets.filter((index) => (latencyBoundsMs[index - 1] ?? -1) >= minLatencyMs));
  }
  return { where, certain };
}

function nullableColumns({ ownerId, clientTool, errorReason }: UsageFilter) {
  return [
    ["owner_id", ownerId],
    ["client_tool", clientTool],
    ["error_reason", errorReason],
  ] as const;
}

const recordIndices: Record<UsageCondition, string> = {
  apiKeyId: "usage_records_key",
  owner: "usage_records_owner",
  ownerId: "usage_records_owner",
  statuses: "usage_records_status",
  model: "usage_records_model",
  provider: "usage_records_provider",
  clientTool: "usage_records_tool",
  errorReason: "usage_records_reason",
};

/** The index that finds the records. Null for the primary key. */
export function recordIndex(filter: UsageFilter, by: UsageCondition | null = likelyRarest(filter)) {
  return by && recordIndices[by];
}

/**
 * Guesses the condition that matches the fewest records. Optimizers choose a poor index for the newest few of
 * many records.
 */
function likelyRarest(filter: UsageFilter): UsageCondition | null {
  const { owner, ownerId, apiKeyId, model, provider, statuses, clientTool, errorReason } = filter;
  if (apiKeyId !== undefined) return "apiKeyId";
  if (owner !== "everyone") return "owner";
  if (errorReason) return "errorReason";
  if (ownerId !== undefined) return "ownerId";
  if (statuses?.length === 1 && statuses[0] !== "SUCCEEDED") return "statuses";
  if (model !== undefined) return "model";
  if (clientTool) return "clientTool";
  return provider === undefined ? null : "provider";
}

/** The index that finds the roll-ups. Null for the primary key. */
export function rollUpIndex(filter: UsageFilter, groupBy: readonly UsageDimension[] = []): string | null {
  if (filter.apiKeyId !== undefined) return "usage_roll_ups_key";
  if (filter.owner !== "everyone" || filter.ownerId !== undefined) return "usage_roll_ups_owner";
  return isByKey(filter, groupBy) ? null : "usage_roll_ups_key";
}

function isByKey({ apiKeyId, ownerId }: UsageFilter, groupBy: readonly UsageDimension[]): boolean {
  if (apiKeyId !== undefined || ownerId !== undefined) return true;
  return groupBy.includes("apiKeyId") || groupBy.includes("ownerId");
}
