import { chooseFilter, urlState } from "#lib/url-state.ts";
import { type Days, toMinuteText, toTimes, type Zone } from "./custom-period.ts";
import { noModelChoice, noOwnerChoice, noTeamChoice, otherClientsChoice } from "./model-name.ts";
import type { UsageStatus } from "./usage-record.ts";

/** The filter of the usage history. Times are ISO 8601 in UTC. `from` is inclusive, `to` exclusive. */
export type UsageFilter = {
  apiKeyId?: string;
  model?: string;
  provider?: string;
  status?: UsageStatus;
  ownerId?: string;
  teamId?: string;
  clientTool?: string;
  errorReason?: string;
  from: string;
  to: string;
};

export const periods = {
  "24h": { label: "Last 24 hours", hours: 24 },
  "7d": { label: "Last 7 days", hours: 7 * 24 },
  "30d": { label: "Last 30 days", hours: 30 * 24 },
  month: { label: "This month", hours: null },
  "last-month": { label: "Last month", hours: null },
  "12mo": { label: "Last 12 months", hours: 365 * 24 },
  custom: { label: "Custom…", hours: null },
} as const;

export type Period = keyof typeof periods;

export type UsageInterval = "HOUR" | "DAY" | "MONTH";

const statuses: UsageStatus[] = ["SUCCEEDED", "FAILED", "CANCELLED", "INTERRUPTED"];

export function readPeriod(): Period {
  const period = urlState("period");
  return Object.hasOwn(periods, period) ? (period as Period) : "24h";
}

/** The period in the URL if it is unsupported. Empty otherwise. */
export function unknownPeriod(): string {
  const period = urlState("period");
  return Object.hasOwn(periods, period) ? "" : period;
}

export function readZone(): Zone {
  return urlState("zone") === "utc" ? "utc" : "local";
}

export function zoomTo(from: Date, to: Date): Promise<void> {
  const [start, end] = [from, to].map((moment) => toMinuteText(moment.getTime(), readZone()));
  return chooseFilter({ period: "custom", from: start ?? null, to: end ?? null });
}

/** The days of a custom period in the URL, valid or not. */
export function readDays(): Days {
  return { from: urlState("from"), to: urlState("to") };
}

/** A custom period initially covers the time from the first shown day to today. */
export function choosePeriod(period: Period): Promise<void> {
  const now = Date.now();
  const days: Record<keyof Days, string | null> =
    period === "custom"
      ? { from: toDay(timesOf(readPeriod(), now).from), to: toDay(now) }
      : { from: null, to: null };
  return chooseFilter({ period: period === "24h" ? null : period, ...days });
}

const toDay = (time: number) => toMinuteText(time, readZone()).slice(0, "2026-11-21".length);

/**
 * Rolling periods start at a whole hour or UTC day, so that the first hourly or daily bar is complete. Custom periods
 * end now at the latest.
 */
function timesOf(period: Period, now: number): { from: number; to: number } {
  const { hours } = periods[period];
  if (period === "month") return { from: startOfMonth(now, 0), to: now };
  if (period === "last-month") return { from: startOfMonth(now, -1), to: startOfMonth(now, 0) };
  if (hours === null) {
    const { from, to } = toTimes(readDays(), readZone());
    return { from, to: Math.min(to, now) };
  }
  const step = period === "24h" ? hourMs : dayMs;
  return { from: Math.floor((now - hours * hourMs) / step) * step + step, to: now };
}

/** The start of the month `offset` months from now, in the page's time zone. */
function startOfMonth(now: number, offset: number): number {
  const time = new Date(now);
  if (readZone() === "utc") return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + offset);
  return new Date(time.getFullYear(), time.getMonth() + offset).getTime();
}

/** Reads the filter from the URL. No period ends after `now`. Custom days must be valid. */
export function readUsageFilter(period: Period, now: number): UsageFilter {
  const { from, to } = timesOf(period, now);
  const status = statuses.find((known) => known === urlState("status"));
  const [apiKeyId, model, provider] = [urlState("key"), urlState("model"), urlState("provider")];
  const [person, tool, errorReason] = [urlState("person"), urlState("tool"), urlState("reason")];
  const team = urlState("team");
  return {
    ...(apiKeyId && { apiKeyId }),
    ...(model && { model: model === noModelChoice ? "" : model }),
    ...(provider && { provider }),
    ...(status && { status }),
    ...(person && { ownerId: person === noOwnerChoice ? "" : person }),
    ...(team && { teamId: team === noTeamChoice ? "" : team }),
    ...(tool && { clientTool: tool === otherClientsChoice ? "" : tool }),
    ...(errorReason && { errorReason }),
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
  };
}

/**
 * Extends a filter that ends now to the end of the hour, because sums of whole hours are stored. The added time is in
 * the future, so the sums stay the same.
 */
export function toWholeHours(filter: UsageFilter, now: number): UsageFilter {
  if (Date.parse(filter.to) < now) return filter;
  return { ...filter, to: new Date((Math.floor(Date.parse(filter.to) / hourMs) + 1) * hourMs).toISOString() };
}

export function intervalOf({ from, to }: UsageFilter): UsageInterval {
  const days = (Date.parse(to) - Date.parse(from)) / dayMs;
  // Two days have 49 hours when clocks are set back.
  if (days < 2.1) return "HOUR";
  return days < 100 ? "DAY" : "MONTH";
}

/** The starts of all intervals, so that empty intervals appear as zero. */
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

export function nextOf(start: Date, interval: UsageInterval): Date {
  if (interval === "MONTH") return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1));
  return new Date(start.getTime() + (interval === "HOUR" ? hourMs : dayMs));
}
