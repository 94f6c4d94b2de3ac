import type { ApiKeyRow } from "../../db/entities/api-key.ts";
import { BlockList, isIP } from "node:net";

/** A key's own limits. If one of the first three is null, the default for all keys applies. */
export type KeyLimits = {
  requestsPerMinute: number | null;
  /** The sum of input and output. */
  tokensPerMinute: number | null;
  concurrentRequests: number | null;
  /** The budget of each period, in US dollars. Periods start at midnight UTC, and weeks on Monday. */
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

export type EnforcedLimits = Readonly<{
  requestsPerMinute: number | null;
  tokensPerMinute: number | null;
  concurrentRequests: number | null;
  budgets: readonly Budget[] | null;
  addressRanges: AddressRanges | null;
}>;

/** The amount is in nano-dollars. */
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

/** Amounts are in US dollars, and 0 means no budget. Returns null without a budget. */
export function toDefaultBudgets(usd: { day: number; month: number }): readonly Budget[] | null {
  const periods = (["day", "month"] as const).filter((period) => usd[period] > 0);
  return periods.length > 0
    ? periods.map((period) => ({ period, amount: toNanoDollars(usd[period]) }))
    : null;
}

export function toBudgets({ dayBudget, weekBudget, monthBudget, totalBudget }: LimitColumns): Budgets {
  return { day: dayBudget, week: weekBudget, month: monthBudget, total: totalBudget };
}

function toNanoDollars(usd: number): number {
  return Math.round(usd * nanoPerDollar);
}

const nanoPerDollar = 1e9;

/** IPv4 and IPv6 addresses and CIDR ranges. */
export class AddressRanges {
  readonly #list = new BlockList();

  /** @param ranges entries that `isAddressRange` accepts */
  constructor(ranges: readonly string[]) {
    for (const range of ranges) {
      const { address, kind, bits } = parseRange(range) ?? {};
      if (address !== undefined && bits !== undefined) this.#list.addSubnet(address, bits, kind);
    }
  }

  /** Also matches IPv4-mapped IPv6 addresses, such as `::ffff:192.0.2.1`, which dual-stack sockets report. */
  has(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.#list.check(address, version === 6 ? "ipv6" : "ipv4");
  }
}

export function isAddressRange(text: string): boolean {
  return parseRange(text) !== null;
}

function parseRange(text: string): { address: string; kind: "ipv4" | "ipv6"; bits: number } | null {
  const [address = "", length, ...rest] = text.split("/");
  const version = isIP(address);
  const bitsMax = version === 6 ? 128 : 32;
  const bits = length === undefined ? bitsMax : /^\d{1,3}$/.test(length) ? Number(length) : -1;
  // A zone such as %eth0 is valid on one machine only.
  if (version === 0 || address.includes("%") || rest.length > 0 || bits < 0 || bits > bitsMax) return null;
  return { address, kind: version === 6 ? "ipv6" : "ipv4", bits };
}
