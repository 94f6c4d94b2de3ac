import { type Query, toRaw } from "./raw-sql.ts";
import { indexHint, type SqlDialect } from "./usage-queries.ts";

const sources = {
  keys: { column: "api_key_id", index: "usage_roll_ups_key", only: "" },
  /** Without the keys that a team pays for. */
  owners: { column: "owner_id", index: "usage_roll_ups_owner", only: " AND team_id = ''" },
  teams: { column: "team_id", index: "usage_roll_ups_team", only: "" },
};

/** `ids` are the IDs of keys (or `allKeys`), of owners, or of teams. */
export type DailyCostsOf = {
  of: keyof typeof sources;
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
  const { column, index, only } = sources[of];
  const since = from === undefined ? "" : " AND starts_at >= ?";
  const until = before === undefined ? "" : " AND starts_at < ?";
  return {
    sql: `SELECT ${column} AS id, starts_at, SUM(cost + least_cost) AS cost FROM usage_roll_ups ${indexHint(dialect, index)} WHERE ${column} IN (${ids.map(() => "?").join(", ")}) AND resolution = ?${only}${since}${until} GROUP BY ${column}, starts_at`,
    parameters: [...ids, "day", ...[from, before].flatMap((end) => (end === undefined ? [] : [toRaw(end)]))],
  };
}
