import { readNumber, writeNumber } from "#lib/read-number.ts";
import type { ApiKey } from "./key-cache.ts";

export type LimitName =
  | "requestsPerMinute"
  | "tokensPerMinute"
  | "concurrentRequests"
  | "day"
  | "week"
  | "month"
  | "total";

/** The texts of the form's fields. Empty means no limit. */
export type LimitTexts = Record<LimitName, string> & { addressRanges: string };

export const limitLabels: Record<LimitName, { label: string; unit: string }> = {
  requestsPerMinute: { label: "Requests per minute", unit: "" },
  tokensPerMinute: { label: "Tokens per minute", unit: "" },
  concurrentRequests: { label: "Concurrent requests", unit: "" },
  day: { label: "Daily budget", unit: "US dollars per day, from 00:00 UTC" },
  week: { label: "Weekly budget", unit: "US dollars per week, from Monday 00:00 UTC" },
  month: { label: "Monthly budget", unit: "US dollars per month, from the 1st at 00:00 UTC" },
  total: { label: "Lifetime budget", unit: "US dollars in total" },
};

export const limitNames = Object.keys(limitLabels) as LimitName[];

type Limits = ApiKey["limits"];

export function toTexts({ budgetsUsd, addressRanges, ...limits }: Limits): LimitTexts {
  return {
    requestsPerMinute: writeNumber(limits.requestsPerMinute),
    tokensPerMinute: writeNumber(limits.tokensPerMinute),
    concurrentRequests: writeNumber(limits.concurrentRequests),
    day: writeNumber(budgetsUsd.day),
    week: writeNumber(budgetsUsd.week),
    month: writeNumber(budgetsUsd.month),
    total: writeNumber(budgetsUsd.total),
    addressRanges: (addressRanges ?? []).join("\n"),
  };
}

/** Converts the texts to the gateway's format. Null removes a limit. */
export function fromTexts(texts: LimitTexts) {
  const { addressRanges, day, week, month, total, ...limits } = texts;
  return {
    requestsPerMinute: readNumber(limits.requestsPerMinute),
    tokensPerMinute: readNumber(limits.tokensPerMinute),
    concurrentRequests: readNumber(limits.concurrentRequests),
    budgetsUsd: {
      day: readNumber(day),
      week: readNumber(week),
      month: readNumber(month),
      total: readNumber(total),
    },
    addressRanges: toRanges(addressRanges),
  };
}

export function toRanges(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}
