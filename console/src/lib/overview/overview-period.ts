import { urlState } from "#lib/url-state.ts";

/** The Usage and Requests pages use the same names and start times for these periods. */
export const periods = {
  "24h": { label: "Last 24 hours", short: "24 h" },
  "7d": { label: "Last 7 days", short: "7 days" },
  "30d": { label: "Last 30 days", short: "30 days" },
} as const;

export type Period = keyof typeof periods;

export function readPeriod(): Period {
  const period = urlState("period");
  return Object.hasOwn(periods, period) ? (period as Period) : "24h";
}

/** The URL of a page with the overview's period and further filters. */
export function pageOf(path: string, filters: Record<string, string> = {}): string {
  const period = readPeriod();
  const search = new URLSearchParams({ ...(period !== "24h" && { period }), ...filters });
  return search.size > 0 ? `${path}?${search}` : path;
}
