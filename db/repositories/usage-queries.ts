import { firstTokenBoundsMs, latencyBoundsMs, type UsageResolution } from "../entities/usage-roll-up.ts";
import { toColumnName } from "../entities/table.ts";
import { countNames, type UsageDimension, usageDimensions } from "../entities/usage-record.ts";
import { monotonicMs } from "../monotonic-ms.ts";
import { type Query, toRaw } from "./raw-sql.ts";
import {
  type Conditions,
  possibleMatches,
  recordConditions,
  recordIndex,
  rollUpConditions,
  rollUpIndex,
  type UsageCondition,
  type UsageFilter,
} from "./usage-filter.ts";

/** Records from `fromId` and before `beforeId`, newest first. */
export type UsagePage = {
  filter: UsageFilter;
  fromId?: string | undefined;
  beforeId?: string | undefined;
  limit: number;
  /** The condition whose index finds the records. By default, the condition that probably matches the fewest. */
  by?: UsageCondition | undefined;
};

export type UsageInterval = "hour" | "day" | "month";

export type UsageSumQuery = {
  filter: UsageFilter;
  groupBy: readonly UsageDimension[];
  interval: UsageInterval | null;
  /** The source: roll-ups with `from` ≤ start < `to`, or records with `fromId` ≤ ID < `beforeId`. */
  of:
    | { resolution: UsageResolution; from: Date | null; to: Date | null }
    | { fromId: string; beforeId: string };
  rowsMax: number;
  /** Omits the buckets of latency and time to first token, which need about half the CPU time of a large sum. */
  isWithoutTimes?: boolean;
};

export type UsageDaysQuery = { filter: UsageFilter; before: Date | null; daysMax: number };

/** `kind` is TypeORM's name for the database: `better-sqlite3`, `mariadb` or `mysql`. */
export type SqlDialect = { kind: string; timeoutMs: number };

export function pageQuery(dialect: SqlDialect, page: UsagePage): Query {
  const { filter, fromId, beforeId, limit, by } = page;
  const where = recordConditions(filter);
  if (fromId !== undefined) where.add("id >= ?", fromId);
  if (beforeId !== undefined) where.add("id < ?", beforeId);
  return timed(dialect, {
    select: "*",
    from: `usage_records ${indexHint(dialect, recordIndex(filter, by))}`,
    where,
    rest: `ORDER BY id DESC LIMIT ${limit}`,
  });
}

/** The query returns sums as text, because sums may exceed 2^53. */
export function sumQuery(dialect: SqlDialect, query: UsageSumQuery): Query {
  const { filter, groupBy, interval, of, rowsMax, isWithoutTimes } = query;
  const isOfRecords = "fromId" in of;
  const where = isOfRecords ? recordConditions(filter) : rollUpConditions(filter, groupBy);
  if (isOfRecords) where.add("id >= ?", of.fromId).add("id < ?", of.beforeId);
  else {
    where.add("resolution = ?", of.resolution);
    if (of.from) where.add("starts_at >= ?", toRaw(of.from));
    if (of.to) where.add("starts_at < ?", toRaw(of.to));
  }
  const by = groupBy.map((dimension) => {
    const column = toColumnName(dimension);
    return isOfRecords && usageDimensions[dimension].column.nullable ? `COALESCE(${column}, '')` : column;
  });
  if (interval !== null) {
    by.unshift(`SUBSTR(${isOfRecords ? "created_at" : "starts_at"}, 1, ${intervalLengths[interval]})`);
  }
  const names = [...(interval === null ? [] : ["starts_at"]), ...groupBy];
  const text = dialect.kind === "better-sqlite3" ? "TEXT" : "CHAR";
  const sums = Object.entries(isOfRecords ? sumsOfRecords : sumsOfRollUps)
    .filter(([name]) => !isWithoutTimes || !/\d$/.test(name))
    .map(([name, sum]) => `CAST(${sum} AS ${text}) AS ${name}`);
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

export function countQuery(dialect: SqlDialect, filter: UsageFilter, from: Date, to: Date): Query {
  const { where } = possibleMatches(filter);
  where.add("resolution = ?", "day").add("starts_at >= ?", toRaw(from)).add("starts_at < ?", toRaw(to));
  return timed(dialect, {
    select: "SUM(requests) AS requests",
    from: `usage_roll_ups ${indexHint(dialect, rollUpIndex(filter))}`,
    where,
    rest: "",
  });
}

export function daysQuery(dialect: SqlDialect, { filter, before, daysMax }: UsageDaysQuery): Query {
  const { where, certain } = possibleMatches(filter);
  where.add("resolution = ?", "day");
  if (before) where.add("starts_at < ?", toRaw(before));
  return timed(dialect, {
    select: `starts_at, SUM(${certain}) AS requests`,
    from: `usage_roll_ups ${indexHint(dialect, rollUpIndex(filter))}`,
    where,
    rest: `GROUP BY starts_at ORDER BY starts_at DESC LIMIT ${daysMax}`,
  });
}

/** The length of a moment's text up to its hour, day or month. */
const intervalLengths: Record<UsageInterval, number> = { hour: 13, day: 10, month: 7 };

const sumsOfRollUps: Record<string, string> = {
  requests: "SUM(requests)",
  ...Object.fromEntries(countNames.map((name) => [name, `SUM(${toColumnName(name)})`])),
  cost: "SUM(cost)",
  markup: "SUM(markup)",
  unknownCosts: "SUM(unknown_costs)",
  latencyMs: "SUM(latency_ms)",
  ...bucketSums("latency", latencyBoundsMs, (index) => `SUM(latency${index})`),
  ...bucketSums("firstToken", firstTokenBoundsMs, (index) => `SUM(first_token${index})`),
};

const sumsOfRecords: Record<string, string> = {
  ...sumsOfRollUps,
  requests: "COUNT(*)",
  unknownCosts: "COUNT(*) - COUNT(cost)",
  ...bucketSums("latency", latencyBoundsMs, countBetween("latency_ms", latencyBoundsMs)),
  ...bucketSums("firstToken", firstTokenBoundsMs, countBetween("time_to_first_token_ms", firstTokenBoundsMs)),
};

function bucketSums(
  name: string,
  bounds: readonly number[],
  sumOf: (index: number) => string,
): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: bounds.length + 1 }, (_, index) => [`${name}${index}`, sumOf(index)]),
  );
}

function countBetween(column: string, bounds: readonly number[]) {
  return (index: number): string => {
    const [above, upTo] = [bounds[index - 1], bounds[index]];
    const conditions = [
      ...(above === undefined ? [] : [`${column} > ${above}`]),
      ...(upTo === undefined ? [] : [`${column} <= ${upTo}`]),
    ];
    return `SUM(CASE WHEN ${conditions.join(" AND ")} THEN 1 ELSE 0 END)`;
  };
}

/** @param index null selects the primary key */
export function indexHint({ kind }: Pick<SqlDialect, "kind">, index: string | null): string {
  if (kind === "better-sqlite3") return index === null ? "NOT INDEXED" : `INDEXED BY ${index}`;
  return `FORCE INDEX (${index ?? "PRIMARY"})`;
}

type Parts = { select: string; from: string; where: Conditions; rest: string };

/** Builds a statement that the database aborts after `timeoutMs`. */
function timed({ kind, timeoutMs }: SqlDialect, { select, from, where, rest }: Parts): Query {
  // better-sqlite3 cannot interrupt a statement, so a function checks the clock for each row: see `sqlite-functions.ts`.
  if (kind === "better-sqlite3") where.add("in_time(?)", monotonicMs() + timeoutMs);
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
