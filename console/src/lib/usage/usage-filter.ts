import { urlState } from "#lib/url-state.ts";
import type { UsageStatus } from "./read-usage-record.ts";

/** As `UsageFilter` of the usage history. Times are ISO 8601 in UTC; `from` is included, `to` is not. */
export type UsageFilter = {
  apiKeyId?: string;
  model?: string;
  provider?: string;
  status?: UsageStatus;
  from: string;
  to: string;
};

export const periods = {
  "24h": { label: "Last 24 hours", hours: 24 },
  "7d": { label: "Last 7 days", hours: 7 * 24 },
  "30d": { label: "Last 30 days", hours: 30 * 24 },
  "12mo": { label: "Last 12 months", hours: 365 * 24 },
} as const;

export type Period = keyof typeof periods;

export type UsageInterval = "HOUR" | "DAY" | "MONTH";

const statuses: UsageStatus[] = ["SUCCEEDED", "FAILED", "CANCELLED", "INTERRUPTED"];

export function readPeriod(): Period {
  const period = urlState("period");
  return period in periods ? (period as Period) : "24h";
}

/**
 * What the address asks for, up to now. Periods begin with a whole hour, or day, so that the first bar of a chart is not
 * a part of one.
 */
export function readUsageFilter(period: Period, now: number): UsageFilter {
  const step = period === "24h" ? hourMs : dayMs;
  const from = Math.floor((now - periods[period].hours * hourMs) / step) * step + step;
  const status = statuses.find((known) => known === urlState("status"));
  const [apiKeyId, model, provider] = [urlState("key"), urlState("model"), urlState("provider")];
  return {
    ...(apiKeyId && { apiKeyId }),
    ...(model && { model }),
    ...(provider && { provider }),
    ...(status && { status }),
    from: new Date(from).toISOString(),
    to: new Date(now).toISOString(),
  };
}

/**
 * The same up to the end of the hour: nothing is there yet that would count too much, and sums of whole hours need not look
 * at records.
 */
export function toWholeHours(filter: UsageFilter): UsageFilter {
  return { ...filter, to: new Date((Math.floor(Date.parse(filter.to) / hourMs) + 1) * hourMs).toISOString() };
}

/** How finely a period is drawn. */
export function intervalOf(period: Period): UsageInterval {
  if (period === "24h") return "HOUR";
  return period === "12mo" ? "MONTH" : "DAY";
}

/** The beginnings of all intervals of a filter's time, so that nothing used is drawn as nothing and not left out. */
export function listIntervals({ from, to }: UsageFilter, interval: UsageInterval): Date[] {
  const starts: Date[] = [];
  let start = startOf(new Date(from), interval);
  for (const end = new Date(to); start < end; start = nextOf(start, interval)) starts.push(start);
  return starts;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

function startOf(time: Date, interval: UsageInterval): Date {
  const [year, month, day, hour] = [
    time.getUTCFullYear(),
    time.getUTCMonth(),
    time.getUTCDate(),
    time.getUTCHours(),
  ];
  if (interval === "HOUR") return new Date(Date.UTC(year, month, day, hour));
  return new Date(Date.UTC(year, month, interval === "DAY" ? day : 1));
}

function nextOf(start: Date, interval: UsageInterval): Date {
  if (interval === "MONTH") return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1));
  return new Date(start.getTime() + (interval === "HOUR" ? hourMs : dayMs));
}
