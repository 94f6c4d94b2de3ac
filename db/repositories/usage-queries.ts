import type { UsageStatus } from "../entities/usage-record.ts";
import { allKeys, latencyBoundsMs, type UsageResolution } from "../entities/usage-roll-up.ts";
import type { OwnerScope } from "./api-key-repository.ts";
import { type Query, toRaw } from "./raw-sql.ts";

/** A filter of usage. `owner` is what the user may see, not part of the request. */
export type UsageFilter = {
  owner: OwnerScope;
  apiKeyId?: string | undefined;
  model?: string | undefined;
  provider?: string | undefined;
  status?: UsageStatus | undefined;
};

/** Records from `fromId` and before `beforeId`, newest first. */
export type UsagePage = {
  filter: UsageFilter;
  fromId?: string | undefined;
  beforeId?: string | undefined;
  limit: number;
  /** The condition whose index finds the records. By default the one that is probably the rarest. */
  by?: UsageCondition | undefined;
};

export type UsageCondition = keyof UsageFilter;

export type UsageDimension = "apiKeyId" | "model" | "provider" | "status";

/** The length of the summed periods. */
export type UsageInterval = "hour" | "day" | "month";

export type UsageSumQuery = {
  filter: UsageFilter;
  groupBy: readonly UsageDimension[];
  interval: UsageInterval | null;
  /** The source: roll-ups that start in `from` ≤ time < `to`, or records with these IDs. */
  of:
    | { resolution: UsageResolution; from: Date | null; to: Date | null }
    | { fromId: string; beforeId: string };
  rowsMax: number;
};

export type UsageDaysQuery = { filter: UsageFilter; before: Date | null; daysMax: number };

/** `kind` is TypeORM's name of the database: `better-sqlite3`, `mariadb` or `mysql`. */
export type SqlDialect = { kind: string; timeoutMs: number };

export function pageQuery(dialect: SqlDialect, page: UsagePage): Query {
  const { filter, fromId, beforeId, limit, by = likelyRarest(filter) } = page;
  const where = new Conditions(filter);
  if (fromId !== undefined) where.add("id >= ?", fromId);
  if (beforeId !== undefined) where.add("id < ?", beforeId);
  return timed(dialect, {
    select: "*",
    from: `usage_records ${indexHint(dialect, by && recordIndices[by])}`,
    where,
    rest: `ORDER BY id DESC LIMIT ${limit}`,
  });
}

/** Sums by dimension and interval. Sums are text, because they may exceed a double. */
export function sumQuery(dialect: SqlDialect, query: UsageSumQuery): Query {
  const { filter, groupBy, interval, of, rowsMax } = query;
  const isOfRecords = "fromId" in of;
  const where = isOfRecords ? new Conditions(filter) : rollUpConditions(filter, groupBy);
  if (isOfRecords) where.add("id >= ?", of.fromId).add("id < ?", of.beforeId);
  else {
    where.add("resolution = ?", of.resolution);
    if (of.from) where.add("starts_at >= ?", toRaw(of.from));
    if (of.to) where.add("starts_at < ?", toRaw(of.to));
  }
  const by = groupBy.map((dimension) => dimensionColumns[dimension]);
  if (interval !== null) {
    by.unshift(`SUBSTR(${isOfRecords ? "created_at" : "starts_at"}, 1, ${intervalLengths[interval]})`);
  }
  const names = [...(interval === null ? [] : ["starts_at"]), ...groupBy];
  const text = dialect.kind === "better-sqlite3" ? "TEXT" : "CHAR";
  const sums = Object.entries(isOfRecords ? sumsOfRecords : sumsOfRollUps).map(
    ([name, sum]) => `CAST(${sum} AS ${text}) AS ${name}`,
  );
  if (groupBy.includes("apiKeyId")) sums.push("MAX(api_key_name) AS apiKeyName");
  const table = isOfRecords
    ? `usage_records ${indexHint(dialect, recordIndex(filter))}`
    : `usage_roll_ups ${indexHint(dialect, rollUpIndex(filter, groupBy))}`;
  return timed(dialect, {
    select: [...by.map((column, index) => `${column} AS ${names[index]}`), ...sums].join(", "),
    from: table,
    where,
    rest: `${by.length > 0 ? `GROUP BY ${by.join(", ")} ` : ""}LIMIT ${rowsMax}`,
  });
}

/** The number of requests on days from `from` and before `to`. */
export function countQuery(dialect: SqlDialect, filter: UsageFilter, from: Date, to: Date): Query {
  const where = rollUpConditions(filter);
  where.add("resolution = ?", "day").add("starts_at >= ?", toRaw(from)).add("starts_at < ?", toRaw(to));
  return timed(dialect, {
    select: "SUM(requests) AS requests",
    from: `usage_roll_ups ${indexHint(dialect, rollUpIndex(filter))}`,
    where,
    rest: "",
  });
}

/** The days with matching usage and their request counts, newest first. */
export function daysQuery(dialect: SqlDialect, { filter, before, daysMax }: UsageDaysQuery): Query {
  const where = rollUpConditions(filter);
  where.add("resolution = ?", "day");
  if (before) where.add("starts_at < ?", toRaw(before));
  return timed(dialect, {
    select: "starts_at, SUM(requests) AS requests",
    from: `usage_roll_ups ${indexHint(dialect, rollUpIndex(filter))}`,
    where,
    rest: `GROUP BY starts_at ORDER BY starts_at DESC LIMIT ${daysMax}`,
  });
}

const dimensionColumns: Record<UsageDimension, string> = {
  apiKeyId: "api_key_id",
  model: "model",
  provider: "provider",
  status: "status",
};

/** The length of a moment's text up to its hour, day or month. */
const intervalLengths: Record<UsageInterval, number> = { hour: 13, day: 10, month: 7 };

const sumsOfRollUps: Record<string, string> = {
  requests: "SUM(requests)",
  inputTokens: "SUM(input_tokens)",
  outputTokens: "SUM(output_tokens)",
  cachedInputTokens: "SUM(cached_input_tokens)",
  cacheWriteInputTokens: "SUM(cache_write_input_tokens)",
  reasoningTokens: "SUM(reasoning_tokens)",
  cost: "SUM(cost)",
  unknownCosts: "SUM(unknown_costs)",
  latencyMs: "SUM(latency_ms)",
  ...latencySums((index) => `SUM(latency${index})`),
};

const sumsOfRecords: Record<string, string> = {
  ...sumsOfRollUps,
  requests: "COUNT(*)",
  unknownCosts: "COUNT(*) - COUNT(cost)",
  ...latencySums(countBetween),
};

function latencySums(sumOf: (index: number) => string): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: latencyBoundsMs.length + 1 }, (_, index) => [`latency${index}`, sumOf(index)]),
  );
}

function countBetween(index: number): string {
  const [above, upTo] = [latencyBoundsMs[index - 1], latencyBoundsMs[index]];
  const conditions = [
    ...(above === undefined ? [] : [`latency_ms > ${above}`]),
    ...(upTo === undefined ? [] : [`latency_ms <= ${upTo}`]),
  ];
  return `SUM(CASE WHEN ${conditions.join(" AND ")} THEN 1 ELSE 0 END)`;
}

/** The conditions of a WHERE clause and their parameters. */
class Conditions {
  readonly #conditions: string[] = [];
  readonly parameters: unknown[] = [];

  constructor({ owner, apiKeyId, model, provider, status }: UsageFilter) {
    if (owner !== "everyone") this.add("owner_id = ?", owner.ownerId);
    if (apiKeyId !== undefined) this.add("api_key_id = ?", apiKeyId);
    if (model !== undefined) this.add("model = ?", model);
    if (provider !== undefined) this.add("provider = ?", provider);
    if (status !== undefined) this.add("status = ?", status);
  }

  add(condition: string, value: unknown): this {
    this.#conditions.push(condition);
    this.parameters.push(value);
    return this;
  }

  get sql(): string {
    return this.#conditions.length > 0 ? `WHERE ${this.#conditions.join(" AND ")}` : "";
  }
}

const recordIndices: Record<UsageCondition, string> = {
  apiKeyId: "usage_records_key",
  owner: "usage_records_owner",
  status: "usage_records_status",
  model: "usage_records_model",
  provider: "usage_records_provider",
};

/**
 * The condition that probably matches the fewest records. Null without any. Selects the index here, because optimizers
 * guess wrong where a few rows in ID order are wanted out of very many.
 */
function likelyRarest({ owner, apiKeyId, model, provider, status }: UsageFilter): UsageCondition | null {
  if (apiKeyId !== undefined) return "apiKeyId";
  if (owner !== "everyone") return "owner";
  if (status !== undefined && status !== "SUCCEEDED") return "status";
  if (model !== undefined) return "model";
  return provider === undefined ? null : "provider";
}

function recordIndex(filter: UsageFilter): string | null {
  const condition = likelyRarest(filter);
  return condition && recordIndices[condition];
}

function rollUpIndex(filter: UsageFilter, groupBy: readonly UsageDimension[] = []): string | null {
  if (filter.apiKeyId !== undefined) return "usage_roll_ups_key";
  if (filter.owner !== "everyone") return "usage_roll_ups_owner";
  return groupBy.includes("apiKeyId") ? null : "usage_roll_ups_key";
}

/** Some roll-ups sum all keys. Sums by key, of one owner's keys or of a key without an ID exclude them. */
function rollUpConditions(filter: UsageFilter, groupBy: readonly UsageDimension[] = []): Conditions {
  const where = new Conditions(filter);
  const { owner, apiKeyId } = filter;
  if (owner === "everyone" && apiKeyId === undefined && !groupBy.includes("apiKeyId"))
    return where.add("api_key_id = ?", allKeys);
  return owner === "everyone" && !apiKeyId ? where.add("api_key_id <> ?", allKeys) : where;
}

/** @param index null selects the primary key */
export function indexHint({ kind }: Pick<SqlDialect, "kind">, index: string | null): string {
  if (kind === "better-sqlite3") return index === null ? "NOT INDEXED" : `INDEXED BY ${index}`;
  return `FORCE INDEX (${index ?? "PRIMARY"})`;
}

type Parts = { select: string; from: string; where: Conditions; rest: string };

/** Builds a statement that the database ends after `timeoutMs`. */
function timed({ kind, timeoutMs }: SqlDialect, { select, from, where, rest }: Parts): Query {
  // SQLite cannot be interrupted, so a function checks the clock for each row: see `data-source.ts`.
  if (kind === "better-sqlite3") where.add("in_time(?)", performance.now() + timeoutMs);
  const { sql, parameters } = where;
  if (kind === "mysql") {
    return {
      sql: `SELECT /*+ MAX_EXECUTION_TIME(${timeoutMs}) */ ${select} FROM ${from} ${sql} ${rest}`,
      parameters,
    };
  }
  const limit = kind === "mariadb" ? `SET STATEMENT max_statement_time=${timeoutMs / 1000} FOR ` : "";
  return { sql: `${limit}SELECT ${select} FROM ${from} ${sql} ${rest}`, parameters };
}
