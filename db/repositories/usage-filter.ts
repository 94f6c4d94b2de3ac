import { toColumnName } from "../entities/table.ts";
import {
  dimensionNames,
  keyDimensions,
  optionsOf,
  type UsageDimension,
  usageDimensions,
  type UsageStatus,
} from "../entities/usage-record.ts";
import { allKeys, latencyBoundsMs } from "../entities/usage-roll-up.ts";
import type { OwnerScope } from "./api-key-filter.ts";

/**
 * `owner` is the user's permission, not a filter of the request. In other members, an empty string selects
 * records without the value.
 */
export type UsageFilter = {
  owner: OwnerScope;
  statuses?: readonly UsageStatus[] | undefined;
} & { [Name in Exclude<UsageDimension, "status">]?: string | undefined } & RecordFacts;

/** Conditions that roll-ups cannot apply exactly. `httpStatusClass` is the first digit of the HTTP status. */
type RecordFacts = { httpStatusClass?: number | undefined; minLatencyMs?: number | undefined };

export type UsageCondition = Exclude<keyof UsageFilter, keyof RecordFacts>;

/** The condition on each dimension, likely rarest first. */
const conditionsOn = dimensionNames.map((dimension) => ({
  dimension,
  condition: dimension === "status" ? ("statuses" as const) : dimension,
}));

export const usageConditions: UsageCondition[] = ["owner", ...conditionsOn.map(({ condition }) => condition)];

export class Conditions {
  readonly #conditions: string[] = [];
  readonly parameters: unknown[] = [];

  /** @param of a missing value is null in records, and empty in roll-ups */
  constructor(filter: UsageFilter, of: "records" | "roll-ups") {
    if (filter.owner !== "everyone") this.add("owner_id = ?", filter.owner.ownerId);
    for (const { dimension, condition } of conditionsOn) {
      const given = filter[condition];
      if (given === undefined) continue;
      const column = toColumnName(dimension);
      const isMissing = given === "" && of === "records" && usageDimensions[dimension].column.nullable;
      const values = typeof given === "string" ? [given] : given;
      if (isMissing) this.add(`${column} IS NULL`);
      // An empty list matches nothing: no record has an empty status.
      else if (values.length < 2) this.add(`${column} = ?`, values[0] ?? "");
      else this.add(`${column} IN (${values.map(() => "?").join(", ")})`, ...values);
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
  const where = new Conditions(filter, "records");
  const { httpStatusClass, minLatencyMs } = filter;
  if (httpStatusClass !== undefined)
    where.add("http_status >= ? AND http_status < ?", httpStatusClass * 100, httpStatusClass * 100 + 100);
  if (minLatencyMs !== undefined) where.add("latency_ms >= ?", minLatencyMs);
  return where;
}

/**
 * Some roll-ups sum all keys. Queries that filter or group by a key, or by what it determines, exclude these rows.
 * All other queries read only these rows.
 */
export function rollUpConditions(filter: UsageFilter, groupBy: readonly UsageDimension[] = []): Conditions {
  const where = new Conditions(filter, "roll-ups");
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

/** The index that finds the records. Null for the primary key. */
export function recordIndex(filter: UsageFilter, by: UsageCondition | null = likelyRarest(filter)) {
  if (by === null) return null;
  const on = conditionsOn.find(({ condition }) => condition === by);
  return usageDimensions[on?.dimension ?? "ownerId"].index;
}

/**
 * Guesses the condition that matches the fewest records. Optimizers choose a poor index for the newest few of
 * many records.
 */
function likelyRarest(filter: UsageFilter): UsageCondition | null {
  if (filter.apiKeyId === undefined && filter.owner !== "everyone") return "owner";
  const rarest = conditionsOn.find(({ dimension, condition }) => {
    const given = filter[condition];
    if (given === undefined || (typeof given !== "string" && given.length !== 1)) return false;
    return String(given) !== optionsOf(dimension).usual;
  });
  return rarest?.condition ?? null;
}

/** The index that finds the roll-ups. Null for the primary key. */
export function rollUpIndex(filter: UsageFilter, groupBy: readonly UsageDimension[] = []): string | null {
  if (filter.apiKeyId !== undefined) return "usage_roll_ups_key";
  if (filter.teamId) return "usage_roll_ups_team";
  if (filter.owner !== "everyone" || filter.ownerId !== undefined) return "usage_roll_ups_owner";
  return isByKey(filter, groupBy) ? null : "usage_roll_ups_key";
}

function isByKey(filter: UsageFilter, groupBy: readonly UsageDimension[]): boolean {
  return ["apiKeyId" as const, ...keyDimensions].some(
    (name) => groupBy.includes(name) || (name !== "status" && filter[name] !== undefined),
  );
}
