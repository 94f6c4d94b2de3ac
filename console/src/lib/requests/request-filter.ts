import { page } from "$app/state";
import { urlState } from "#lib/url-state.ts";
import type { UsageStatus } from "#lib/usage/usage-record.ts";
import { readPeriod, readUsageFilter, type UsageFilter } from "#lib/usage/usage-filter.ts";

/** The filter of the request list. Sums of usage do not support `httpStatusClass` and `minLatencyMs`. */
export type RequestFilter = UsageFilter & {
  statuses?: UsageStatus[];
  httpStatusClass?: number;
  minLatencyMs?: number;
};

export const filterNames = [
  "key",
  "model",
  "provider",
  "status",
  "person",
  "team",
  "tool",
  "reason",
  "duration",
] as const;

export const statusOptions = [
  { value: "SUCCEEDED", label: "Succeeded" },
  { value: "ERRORS", label: "All errors", hint: "failed or interrupted" },
  { value: "FAILED", label: "Failed" },
  { value: "INTERRUPTED", label: "Interrupted" },
  { value: "CANCELLED", label: "Cancelled" },
  { value: "4xx", label: "HTTP 4xx" },
  { value: "5xx", label: "HTTP 5xx" },
];

export const durationOptions = ["1", "5", "15", "30", "60", "300"].map((seconds) => ({
  value: seconds,
  label: `At least ${seconds} s`,
}));

/** Reads the filter from the URL. A relative period ends at `now`. Custom days must be valid. */
export function readRequestFilter(now: number): RequestFilter {
  const status = urlState("status");
  const duration = durationOptions.find(({ value }) => value === urlState("duration"));
  return {
    ...readUsageFilter(readPeriod(), now),
    ...(status === "ERRORS" && { statuses: ["FAILED", "INTERRUPTED"] }),
    ...((status === "4xx" || status === "5xx") && { httpStatusClass: Number(status[0]) }),
    ...(duration && { minLatencyMs: Number(duration.value) * 1_000 }),
  };
}

/** The URL of a request's page. On the request list, the URL keeps the list's filters. */
export function requestAddress(id: string): string {
  return `/requests/${encodeURIComponent(id)}${page.route.id?.includes("/requests/") ? page.url.search : ""}`;
}

/** The URL of the request list with this page's filters. A key's page also passes `apiKeyId`. */
export function listAddress(apiKeyId?: string): string {
  const shared = ["period", "from", "to", "zone", ...filterNames];
  const filters = new URLSearchParams([...page.url.searchParams].filter(([name]) => shared.includes(name)));
  if (apiKeyId !== undefined) filters.set("key", apiKeyId);
  return filters.size > 0 ? `/requests?${filters}` : "/requests";
}
