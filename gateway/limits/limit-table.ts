import {
  budgetColumn,
  type BudgetPeriod,
  budgetPeriods,
  limitColumns,
  type LimitColumns,
  type RateName,
  rateNames,
} from "../../db/entities/limits.ts";
import { AddressRanges } from "./address-ranges.ts";

/** The limits that are set for a holder. Null means that a limit is not set, so that a default applies. */
export type Limits = RateLimits & {
  /** The budget of each period, in US dollars. Periods start at midnight UTC, and weeks on Monday. */
  budgetsUsd: Record<BudgetPeriod, number | null>;
  /** The allowed IP addresses and ranges, such as `10.0.0.0/8`. Null allows all. */
  addressRanges: string[] | null;
};

/** Tokens are the sum of input and output. */
type RateLimits = Record<RateName, number | null>;

/** An edit of limits: null removes a limit, undefined keeps it. */
export type LimitChanges = {
  [Name in keyof Omit<Limits, "budgetsUsd">]?: Limits[Name] | undefined;
} & { budgetsUsd?: { [Period in BudgetPeriod]?: number | null | undefined } | undefined };

/** Every limit: its path in `Limits`, its column, and the unit of its values there. */
export const limitTable: readonly LimitEntry[] = [
  ...rateNames.map((name) => ({ path: name, column: name, unit: "count" as const })),
  ...budgetPeriods.map((period) => ({
    path: `budgetsUsd.${period}`,
    column: budgetColumn(period),
    unit: "nano-dollars" as const,
  })),
  { path: "addressRanges", column: "addressRanges", unit: "addresses" },
];

type LimitEntry = Readonly<{
  path: string;
  column: LimitColumn;
  unit: "count" | "nano-dollars" | "addresses";
}>;

export type LimitColumn = keyof LimitColumns;

/** The members of `Limits`. */
export const limitNames = [...rateNames, "budgetsUsd", "addressRanges"] as const;

/** A holder's limits as requests meet them. 0 means no limit. */
export type EnforcedLimits = Readonly<
  Record<RateName, number> & {
    budgets: readonly Budget[] | null;
    addressRanges: AddressRanges | null;
  }
>;

/** The amount is in nano-dollars. */
export type Budget = Readonly<{ period: BudgetPeriod; amount: number }>;

export const noLimitColumns: LimitColumns = columnsOf(() => null);

export function toLimits(columns: LimitColumns): Limits {
  return {
    ...byName(rateNames, (name) => columns[name]),
    budgetsUsd: byName(budgetPeriods, (period) => toUsd(columns[budgetColumn(period)])),
    addressRanges: columns.addressRanges,
  };
}

export function changeLimits(columns: LimitColumns, changes: LimitChanges): LimitColumns {
  const changed = columnsOf((column) => columns[column]);
  for (const name of rateNames) {
    const limit = changes[name];
    if (limit !== undefined) changed[name] = limit;
  }
  for (const period of budgetPeriods) {
    const usd = changes.budgetsUsd?.[period];
    if (usd !== undefined) changed[budgetColumn(period)] = usd === null ? null : toNanoDollars(usd);
  }
  const { addressRanges: ranges } = changes;
  if (ranges !== undefined) changed.addressRanges = ranges && ranges.length > 0 ? ranges : null;
  return changed;
}

/** Returns the limits of a row. Null if none is set. */
export function ownLimits(row: LimitColumns): LimitColumns | null {
  return limitTable.some(({ column }) => row[column] !== null) ? columnsOf((column) => row[column]) : null;
}

/** Each limit is the one of the first source that sets it. */
export function firstLimits(...sources: readonly (LimitColumns | null)[]): LimitColumns {
  return columnsOf((column) => sources.find((source) => source && source[column] !== null)?.[column] ?? null);
}

export function enforcedLimits(columns: LimitColumns): EnforcedLimits {
  return {
    ...byName(rateNames, (name) => columns[name] ?? 0),
    budgets: budgetsOf(columns),
    addressRanges: columns.addressRanges && new AddressRanges(columns.addressRanges),
  };
}

/** Returns null without a budget. */
export function budgetsOf(columns: LimitColumns): readonly Budget[] | null {
  const budgets = budgetPeriods.flatMap((period) => {
    const amount = columns[budgetColumn(period)];
    return amount === null ? [] : [{ period, amount }];
  });
  return budgets.length > 0 ? budgets : null;
}

/** The path of the first limit in `to` that permits more than the one in `from`, or undefined. */
export function findLooserLimit(from: LimitColumns, to: LimitColumns): string | undefined {
  return limitTable.find(({ column }) => isLooser(from[column], to[column]))?.path;
}

type LimitValue = LimitColumns[LimitColumn];

function isLooser(from: LimitValue, to: LimitValue): boolean {
  if (from === null || to === null) return from !== null;
  return Array.isArray(from) && Array.isArray(to) ? !to.every((range) => from.includes(range)) : to > from;
}

export function toUsd(nanoDollars: number): number;
export function toUsd(nanoDollars: number | null): number | null;
export function toUsd(nanoDollars: number | null): number | null {
  return nanoDollars === null ? null : nanoDollars / nanoPerDollar;
}

export function toNanoDollars(usd: number): number {
  return Math.round(usd * nanoPerDollar);
}

const nanoPerDollar = 1e9;

function columnsOf(
  valueOf: <Column extends LimitColumn>(column: Column) => LimitColumns[Column],
): LimitColumns {
  // The cast is sound, because the keys are all columns.
  return byName(Object.keys(limitColumns) as LimitColumn[], valueOf) as LimitColumns;
}

/** An object with a value for each name. */
export function byName<Name extends string, Value>(
  names: readonly Name[],
  valueOf: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>;
}
