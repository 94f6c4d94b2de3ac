import { type Query, toRaw } from "./raw-sql.ts";
import { indexHint, type SqlDialect } from "./usage-queries.ts";

/** `ids` are the IDs of keys (or `allKeys`) or of owners. */
export type DailyCostsOf = {
  of: "keys" | "owners";
  ids: readonly string[];
  /** The first day. */
  from?: Date;
  /** The day after the last. */
  before?: Date;
};

/** The cost per ID and day, in nano-dollars. Unpriced requests count their minimum cost. */
export function dailyCostsQuery(
  dialect: Pick<SqlDialect, "kind">,
  { of, ids, from, before }: DailyCostsOf,
): Query {
  const [column, index] =
    of === "keys" ? ["api_key_id", "usage_roll_ups_key"] : ["owner_id", "usage_roll_ups_owner"];
  const since = from === undefined ? "" : " AND starts_at >= ?";
  const until = before === undefined ? "" : " AND starts_at < ?";
  return {
    sql: `SELECT ${column} AS id, starts_at, SUM(cost + least_cost) AS cost FROM usage_roll_ups ${indexHint(dialect, index)} WHERE ${column} IN (${ids.map(() => "?").join(", ")}) AND resolution = ?${since}${until} GROUP BY ${column}, starts_at`,
    parameters: [...ids, "day", ...[from, before].flatMap((end) => (end === undefined ? [] : [toRaw(end)]))],
  };
}
