import { readNumber, writeNumber } from "#lib/read-number.ts";
import type { Outputs } from "#lib/session/api.ts";

const rateNames = ["requestsPerMinute", "tokensPerMinute", "concurrentRequests"] as const;
const budgetPeriods = ["day", "week", "month", "total"] as const;
type RateName = (typeof rateNames)[number];
type BudgetPeriod = (typeof budgetPeriods)[number];

/** A limit that is a number. */
type LimitName = RateName | BudgetPeriod;

export type LimitField = LimitName | "addressRanges";

/** The texts of the form's fields. Empty means no limit. */
export type LimitTexts = Record<LimitField, string>;

export const limitLabels: Record<LimitName, { label: string; unit: string }> = {
  requestsPerMinute: { label: "Requests per minute", unit: "" },
  tokensPerMinute: { label: "Tokens per minute", unit: "" },
  concurrentRequests: { label: "Concurrent requests", unit: "" },
  day: { label: "Daily budget", unit: "US dollars per day, from 00:00 UTC" },
  week: { label: "Weekly budget", unit: "US dollars per week, from Monday 00:00 UTC" },
  month: { label: "Monthly budget", unit: "US dollars per month, from the 1st at 00:00 UTC" },
  total: { label: "Lifetime budget", unit: "US dollars in total" },
};

export const limitNames: readonly LimitName[] = [...rateNames, ...budgetPeriods];

export function isRate(name: string): name is RateName {
  return rateNames.some((rate) => rate === name);
}

/** The path of a limit in the gateway's format. */
export function pathOf(name: LimitField): string {
  return isRate(name) || name === "addressRanges" ? name : `budgetsUsd.${name}`;
}

type Limits = Outputs["limits"]["get"]["limits"];

export function toTexts(limits: Limits): LimitTexts {
  return {
    ...byName(rateNames, (name) => writeNumber(limits[name])),
    ...byName(budgetPeriods, (period) => writeNumber(limits.budgetsUsd[period])),
    addressRanges: (limits.addressRanges ?? []).join("\n"),
  };
}

/** Converts the texts to the gateway's format. Null removes a limit. */
export function fromTexts(texts: LimitTexts) {
  return {
    ...byName(rateNames, (name) => readNumber(texts[name])),
    budgetsUsd: byName(budgetPeriods, (period) => readNumber(texts[period])),
    addressRanges: toRanges(texts.addressRanges),
  };
}

export function toRanges(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

function byName<Name extends string, Value>(names: readonly Name[], valueOf: (name: Name) => Value) {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>;
}
