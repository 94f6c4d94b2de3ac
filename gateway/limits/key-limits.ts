import type { ApiKeyRow } from "../../db/entities/api-key.ts";
import type { LimitHolder } from "../errors.ts";
import { AddressRanges } from "./address-ranges.ts";

/** A key's limits for display. Null means no limit. */
export type KeyLimits = {
  requestsPerMinute: number | null;
  /** The sum of input and output. */
  tokensPerMinute: number | null;
  concurrentRequests: number | null;
  /** US dollars per period, in UTC. Weeks start on Monday. */
  budgetsUsd: Record<BudgetPeriod, number | null>;
  /** The allowed IP addresses and ranges, such as `10.0.0.0/8`. Null allows all. */
  addressRanges: string[] | null;
};

export const limitNames = [
  "requestsPerMinute",
  "tokensPerMinute",
  "concurrentRequests",
  "budgetsUsd",
  "addressRanges",
] as const;

export type BudgetPeriod = (typeof budgetPeriods)[number];

export const budgetPeriods = ["day", "week", "month", "total"] as const;

/** An edit of a key's limits: null removes a limit, undefined keeps it. */
export type KeyLimitChanges = {
  [Name in keyof Omit<KeyLimits, "budgetsUsd">]?: KeyLimits[Name] | undefined;
} & { budgetsUsd?: { [Period in BudgetPeriod]?: number | null | undefined } | undefined };

/** The names of limit holders in errors. */
export const holderNames: Readonly<Record<LimitHolder, string>> = {
  key: "this API key",
  person: "all API keys of this key's owner",
  gateway: "the whole gateway",
};

/** The limits for the request path. Budgets are in nano-dollars. */
export type EnforcedLimits = Readonly<{
  requestsPerMinute: number | null;
  tokensPerMinute: number | null;
  concurrentRequests: number | null;
  budgets: readonly Budget[] | null;
  addressRanges: AddressRanges | null;
}>;

/** The budget of a period, in nano-dollars. */
export type Budget = Readonly<{ period: BudgetPeriod; amount: number }>;

/** Nano-dollars. Null means no budget. */
type Budgets = Readonly<Record<BudgetPeriod, number | null>>;

export type LimitColumns = Pick<
  ApiKeyRow,
  | "requestsPerMinute"
  | "tokensPerMinute"
  | "concurrentRequests"
  | "dayBudget"
  | "weekBudget"
  | "monthBudget"
  | "totalBudget"
  | "addressRanges"
>;

export const noLimitColumns: LimitColumns = {
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrentRequests: null,
  dayBudget: null,
  weekBudget: null,
  monthBudget: null,
  totalBudget: null,
  addressRanges: null,
};

export function toKeyLimits(columns: LimitColumns): KeyLimits {
  const { requestsPerMinute, tokensPerMinute, concurrentRequests, addressRanges } = columns;
  const { day, week, month, total } = toBudgets(columns);
  return {
    requestsPerMinute,
    tokensPerMinute,
    concurrentRequests,
    budgetsUsd: { day: toUsd(day), week: toUsd(week), month: toUsd(month), total: toUsd(total) },
    addressRanges,
  };
}

export function changeLimits(
  columns: LimitColumns,
  { budgetsUsd = {}, ...changes }: KeyLimitChanges,
): LimitColumns {
  const budgets = { ...toBudgets(columns) };
  for (const period of budgetPeriods) {
    const usd = budgetsUsd[period];
    if (usd !== undefined) budgets[period] = usd === null ? null : toNanoDollars(usd);
  }
  const ranges = changes.addressRanges === undefined ? columns.addressRanges : changes.addressRanges;
  const given = <Value>(changed: Value | undefined, before: Value): Value =>
    changed === undefined ? before : changed;
  return {
    requestsPerMinute: given(changes.requestsPerMinute, columns.requestsPerMinute),
    tokensPerMinute: given(changes.tokensPerMinute, columns.tokensPerMinute),
    concurrentRequests: given(changes.concurrentRequests, columns.concurrentRequests),
    dayBudget: budgets.day,
    weekBudget: budgets.week,
    monthBudget: budgets.month,
    totalBudget: budgets.total,
    addressRanges: ranges && ranges.length > 0 ? ranges : null,
  };
}

/** Returns null for a key without its own limits. */
export function enforcedLimits(columns: LimitColumns): EnforcedLimits | null {
  const { requestsPerMinute, tokensPerMinute, concurrentRequests, addressRanges } = columns;
  const amounts = toBudgets(columns);
  const budgets = budgetPeriods.flatMap((period) => {
    const amount = amounts[period];
    return amount === null ? [] : [{ period, amount }];
  });
  if (
    budgets.length === 0 &&
    !addressRanges &&
    !requestsPerMinute &&
    !tokensPerMinute &&
    !concurrentRequests
  ) {
    return null;
  }
  return {
    requestsPerMinute,
    tokensPerMinute,
    concurrentRequests,
    budgets: budgets.length > 0 ? budgets : null,
    addressRanges: addressRanges && new AddressRanges(addressRanges),
  };
}

export function toUsd(nanoDollars: number): number;
export function toUsd(nanoDollars: number | null): number | null;
export function toUsd(nanoDollars: number | null): number | null {
  return nanoDollars === null ? null : nanoDollars / nanoPerDollar;
}

/** Converts US dollars (0 means no budget) for the request path. Null if no budget is set. */
export function toSharedBudgets(usd: { day: number; month: number }): readonly Budget[] | null {
  const periods = (["day", "month"] as const).filter((period) => usd[period] > 0);
  return periods.length > 0
    ? periods.map((period) => ({ period, amount: toNanoDollars(usd[period]) }))
    : null;
}

/** Converts columns to budgets in nano-dollars. */
export function toBudgets({ dayBudget, weekBudget, monthBudget, totalBudget }: LimitColumns): Budgets {
  return { day: dayBudget, week: weekBudget, month: monthBudget, total: totalBudget };
}

function toNanoDollars(usd: number): number {
  return Math.round(usd * nanoPerDollar);
}

const nanoPerDollar = 1e9;
