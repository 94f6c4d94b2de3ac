import { deepStrictEqual } from "node:assert";
import { queryDatabase } from "./query-database.ts";

/** Throws unless the roll-ups equal the sums of the usage records. Returns the number of usage records. */
export async function assertRollUpsMatch(url: string): Promise<number> {
  for (const [resolution, length] of Object.entries({ hour: 13, day: 10 })) {
    for (const byKey of [true, false]) {
      const sums = await queryDatabase(url, sumOfRecords(length, byKey));
      const rollUps = await queryDatabase(url, readRollUps(resolution, length, byKey));
      const which = `the roll-ups by ${resolution} of ${byKey ? "each key" : "all keys"} are not the sums`;
      deepStrictEqual(rollUps.map(plain), sums.map(plain), which);
    }
  }
  const [count] = await queryDatabase(url, "SELECT COUNT(*) AS records FROM usage_records");
  return Number(count?.["records"]);
}

const keys = "period, api_key, owner, model, provider, status, tool, reason";
const tokens = ["input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens"];
const sums = [...tokens, "reasoning_tokens", "cost", "latency_ms"];
const least = "CAST(JSON_EXTRACT(cost_details, '$.least') AS SIGNED)";
const boundsMs = {
  latency: [-1, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 2 ** 40],
  first_token: [-1, 50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 2 ** 40],
};
const buckets = [
  ...boundsMs.latency.slice(1).map((_, index) => `latency${index}`),
  ...boundsMs.first_token.slice(1).map((_, index) => `first_token${index}`),
];

function sumOfRecords(periodLength: number, byKey: boolean): string {
  const columns = [
    `SUBSTR(created_at, 1, ${periodLength}) AS period`,
    byKey ? "api_key_id AS api_key, COALESCE(owner_id, '') AS owner" : "'' AS api_key, '' AS owner",
    "model, provider, status",
    "COALESCE(client_tool, '') AS tool, COALESCE(error_reason, '') AS reason",
    "COUNT(*) AS requests",
    ...sums.map((name) => `COALESCE(SUM(${name}), 0) AS ${name}`),
    "SUM(CASE WHEN cost IS NULL THEN 1 ELSE 0 END) AS unknown_costs",
    `COALESCE(SUM(${least}), 0) AS least_cost`,
    ...countsBetween("latency_ms", "latency", boundsMs.latency),
    ...countsBetween("time_to_first_token_ms", "first_token", boundsMs.first_token),
  ];
  return `SELECT ${columns.join(", ")} FROM usage_records GROUP BY ${keys} ORDER BY ${keys}`;
}

function countsBetween(column: string, name: string, bounds: number[]): string[] {
  return bounds
    .slice(1)
    .map(
      (bound, index) =>
        `SUM(CASE WHEN ${column} > ${bounds[index]} AND ${column} <= ${bound} THEN 1 ELSE 0 END) AS ${name}${index}`,
    );
}

function readRollUps(resolution: string, periodLength: number, byKey: boolean): string {
  const columns = [
    `SUBSTR(starts_at, 1, ${periodLength}) AS period`,
    "api_key_id AS api_key, owner_id AS owner, model, provider, status",
    "client_tool AS tool, error_reason AS reason, requests",
    ...sums,
    "unknown_costs, least_cost",
    ...buckets,
  ];
  return `SELECT ${columns.join(", ")} FROM usage_roll_ups WHERE resolution = '${resolution}' AND api_key_id ${byKey ? "<>" : "="} '' ORDER BY ${keys}`;
}

/** Converts all values to text, because MySQL returns sums as text. */
function plain(row: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)]));
}
