import type { Database } from "../../db/database.ts";
import type { ProviderHalfHourRow } from "../../db/entities/provider-half-hour.ts";
import { percentileMs } from "../usage/history/usage-overview.ts";

type HalfHour = {
  startsAt: Date;
  requests: number;
  /** The failures that the provider caused. */
  failures: number;
  /** The average of successful requests. Null if none succeeded. */
  averageLatencyMs: number | null;
  /** The p95 of successful requests. Null for fewer than 20. */
  p95LatencyMs: number | null;
};

export type HealthHistory = {
  from: Date;
  /** The start of the last half-hour. */
  last: Date;
  /** Existing providers, and deleted providers with requests, sorted by name. Omits half-hours without requests. */
  providers: { name: string; halfHours: HalfHour[] }[];
};

/** @param until a time in the last of the 48 half-hours, in milliseconds since 1970 */
export async function readHealthHistory(database: Database, until: number): Promise<HealthHistory> {
  const last = Math.floor(until / halfHourMs) * halfHourMs;
  const from = last - (halfHours - 1) * halfHourMs;
  const { rows, present } = await database.ask(null, async ({ providerHalfHours, providers }) => ({
    rows: await providerHalfHours.list(new Date(from), new Date(last)),
    present: await providers.list(),
  }));
  const byProvider = Map.groupBy(rows, ({ provider }) => provider);
  const names = new Set([...present.map(({ name }) => name), ...byProvider.keys()]);
  return {
    from: new Date(from),
    last: new Date(last),
    providers: [...names].toSorted().map((name) => ({
      name,
      halfHours: (byProvider.get(name) ?? []).map(toHalfHour),
    })),
  };
}

const halfHourMs = 1_800_000;
const halfHours = 48;

function toHalfHour(row: ProviderHalfHourRow): HalfHour {
  const { startsAt, requests, failures, successes, latencyMs } = row;
  const latencies = [row.latency0, row.latency1, row.latency2, row.latency3, row.latency4];
  latencies.push(row.latency5, row.latency6, row.latency7, row.latency8, row.latency9);
  return {
    startsAt,
    requests,
    failures,
    averageLatencyMs: successes === 0 ? null : Math.round(latencyMs / successes),
    p95LatencyMs: percentileMs(latencies, 0.95),
  };
}
