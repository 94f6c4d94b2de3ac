import { deepStrictEqual } from "node:assert";
import { queryDatabase } from "./query-database.ts";

/**
 * Checks that the roll-ups equal the sums of the usage records by hour and by day, exactly. Reads the database
 * directly. Throws on a difference; returns the number of records.
 */
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

const keys = "period, api_key, owner, model, provider, status";
const tokens = ["input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens"];
const sums = [...tokens, "reasoning_tokens", "cost", "latency_ms"];
const boundsMs = [-1, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 2 ** 40];

function sumOfRecords(periodLength: number, byKey: boolean): string {
  const columns = [
    `SUBSTR(created_at, 1, ${periodLength}) AS period`,
    byKey ? "api_key_id AS api_key, COALESCE(owner_id, '') AS owner" : "'' AS api_key, '' AS owner",
    "model, provider, status, COUNT(*) AS requests",
    ...sums.map((name) => `COALESCE(SUM(${name}), 0) AS ${name}`),
    "SUM(CASE WHEN cost IS NULL THEN 1 ELSE 0 END) AS unknown_costs",
    ...boundsMs
      .slice(1)
      .map(
        (bound, index) =>
          `SUM(CASE WHEN latency_ms > ${boundsMs[index]} AND latency_ms <= ${bound} THEN 1 ELSE 0 END) AS latency${index}`,
      ),
  ];
  return `SELECT ${columns.join(", ")} FROM usage_records GROUP BY ${keys} ORDER BY ${keys}`;
}

function readRollUps(resolution: string, periodLength: number, byKey: boolean): string {
  const columns = [
    `SUBSTR(starts_at, 1, ${periodLength}) AS period`,
    "api_key_id AS api_key, owner_id AS owner, model, provider, status, requests",
    ...sums,
    "unknown_costs",
    ...boundsMs.slice(1).map((_, index) => `latency${index}`),
  ];
  return `SELECT ${columns.join(", ")} FROM usage_roll_ups WHERE resolution = '${resolution}' AND api_key_id ${byKey ? "<>" : "="} '' ORDER BY ${keys}`;
}

/** MySQL returns sums as text. */
function plain(row: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)]));
}
