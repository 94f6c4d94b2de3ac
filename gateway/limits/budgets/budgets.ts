import type { Database } from "../../../db/database.ts";
import { allKeys } from "../../../db/entities/usage-roll-up.ts";
import type { DailyCostsOf } from "../../../db/repositories/daily-costs-query.ts";
import type { Person } from "../../auth/person.ts";
import { type LimitReason, type LimitHolder, GatewayError } from "../../errors.ts";
import type { Settings } from "../../config/limit-variables.ts";
import type { UsageRecord } from "../../usage/recording/spool.ts";
import { type Ledger, periodAt } from "./ledger.ts";
import { BudgetWatch, type SharedBudgetUse, SharedBudgets } from "./shared-budgets.ts";
import type { BudgetWarning } from "./budget-warnings.ts";
import {
  type Budget,
  type BudgetPeriod,
  type EnforcedLimits,
  holderNames,
  toSharedBudgets,
  toUsd,
} from "../key-limits.ts";
import { Spending } from "./spending.ts";

export type SharedBudgetUses = { person: SharedBudgetUse[]; gateway: SharedBudgetUse[] };

type BudgetedKey = Readonly<{ id: string; ownerId: string | null; limits: EnforcedLimits | null }>;

type BudgetsOptions = {
  database: Database;
  now: () => number;
  limits: Settings;
  /** Calls `read` while no record of this process is in flight to the database. */
  readUndisturbed: (read: () => Promise<void>) => Promise<void>;
  warn: (warning: BudgetWarning) => void;
};

export class Budgets {
  readonly #options: BudgetsOptions;
  readonly #keys: Spending;
  readonly #keyWatch: BudgetWatch;
  readonly #people: SharedBudgets | null;
  readonly #gateway: SharedBudgets | null;

  constructor(options: BudgetsOptions) {
    this.#options = options;
    const { limits } = options;
    this.#keys = spendingOf(options, "keys");
    this.#keyWatch = new BudgetWatch({ ...options, spending: this.#keys });
    this.#people = shareBudgets(options, "owners", {
      day: limits.personBudgetUsdPerDayMax,
      month: limits.personBudgetUsdPerMonthMax,
    });
    this.#gateway = shareBudgets(options, "keys", {
      day: limits.gatewayBudgetUsdPerDayMax,
      month: limits.gatewayBudgetUsdPerMonthMax,
    });
  }

  /**
   * Throws `insufficient_quota` for an exceeded budget, and `service_unavailable` while spending is loading.
   */
  check({ id, ownerId, limits }: BudgetedKey): void {
    if (limits?.budgets) this.#check("key", limits.budgets, this.#keys.ledgerOf(id));
    if (this.#people && ownerId !== null) {
      this.#check("person", this.#people.budgets, this.#people.ledgerOf(ownerId));
    }
    if (this.#gateway) this.#check("gateway", this.#gateway.budgets, this.#gateway.ledgerOf(allKeys));
  }

  /** Adds the cost of a finished request, before its record is written. */
  spend({ limits }: Pick<BudgetedKey, "limits">, record: UsageRecord): void {
    const { apiKeyId, apiKeyName, ownerId } = record;
    this.#keys.add(apiKeyId, record);
    if (ownerId !== null) this.#people?.spend(ownerId, record);
    this.#gateway?.spend(allKeys, record);
    if (!limits?.budgets) return;
    this.#keyWatch.spent(apiKeyId, { kind: "key", apiKeyId, apiKeyName, ownerId }, limits.budgets);
  }

  /** Runs when records of this process are in the database. */
  shipped(records: readonly UsageRecord[]): void {
    for (const record of records) {
      const { apiKeyId, ownerId } = record;
      this.#keys.shipped(apiKeyId, record);
      if (ownerId !== null) this.#people?.shipped(ownerId, record);
      this.#gateway?.shipped(allKeys, record);
    }
  }

  /** Loads the spending that `check` needs for a key. */
  async loadFor({ id, ownerId, limits }: BudgetedKey): Promise<void> {
    if (limits?.budgets) await this.#keys.load([id]);
    if (ownerId !== null) await this.#people?.loadMissing(ownerId);
    await this.#gateway?.loadMissing(allKeys);
  }

  /** Loads the spending of keys, with or without budgets. */
  load(keyIds: readonly string[]): Promise<void> {
    return this.#keys.load(keyIds);
  }

  /** Reloads spending from the database, because other processes also spend. */
  async refresh(): Promise<void> {
    await this.#keyWatch.refresh();
    await this.#people?.refresh();
    await this.#gateway?.refresh();
  }

  /** Lets the budgets of a changed key cause warnings again, because their amounts may have changed. */
  changed(keyId: string): void {
    this.#keys.ledgerOf(keyId)?.forgetWarnings();
  }

  /** Drops the spending of one key, or of all keys if `keyId` is undefined. Shared spending stays loaded. */
  forget(keyId?: string): void {
    this.#keys.forget(keyId);
  }

  /** Null if the key's spending is not loaded. */
  spentIn(keyId: string, period: BudgetPeriod): { amount: number; startsAt: number; endsAt: number } | null {
    return this.#keys.ledgerOf(keyId)?.in(period, this.#options.now()) ?? null;
  }

  async sharedUses({ id, role }: Pick<Person, "id" | "role">): Promise<SharedBudgetUses> {
    return {
      person: (await this.#people?.uses(id)) ?? [],
      gateway: (role === "admin" && (await this.#gateway?.uses(allKeys))) || [],
    };
  }

  /** The shared budgets that apply to a key. The caller must hide the gateway's amounts from members. */
  async sharedUsesOfKey({ ownerId }: Pick<BudgetedKey, "ownerId">): Promise<SharedBudgetUses> {
    return {
      person: (ownerId !== null && (await this.#people?.uses(ownerId))) || [],
      gateway: (await this.#gateway?.uses(allKeys)) ?? [],
    };
  }

  #check(holder: LimitHolder, budgets: readonly Budget[], ledger: Ledger | undefined): void {
    if (!ledger) {
      const message = `Budget data for ${holderNames[holder]} is loading. Retry in a moment.`;
      throw new GatewayError("service_unavailable", message, { retryAfterSeconds: 1 });
    }
    ledger.isInUse = true;
    const now = this.#options.now();
    for (const budget of budgets) {
      const { amount, endsAt } = ledger.in(budget.period, now);
      if (amount >= budget.amount) throw budgetSpent(holder, budget, endsAt);
    }
  }
}

/** Null without a budget. The longest period is a month, because each refresh reads the whole period. */
function shareBudgets(
  options: BudgetsOptions,
  of: DailyCostsOf["of"],
  usd: { day: number; month: number },
): SharedBudgets | null {
  const budgets = toSharedBudgets(usd);
  const from = () => new Date(periodAt("month", options.now()).startsAt);
  if (!budgets) return null;
  const { now, warn } = options;
  return new SharedBudgets({ budgets, spending: spendingOf(options, of, from), now, warn });
}

/** @param from the first counted moment. Undefined counts from the beginning. */
function spendingOf(
  { database, now, readUndisturbed }: BudgetsOptions,
  of: DailyCostsOf["of"],
  from?: () => Date,
): Spending {
  const readCosts = (ids: readonly string[]) =>
    database.read(({ usageRollUps }) => usageRollUps.dailyCosts({ of, ids, ...(from && { from: from() }) }));
  return new Spending({ now, readCosts, readUndisturbed });
}

function budgetSpent(holder: LimitHolder, { period, amount: budget }: Budget, endsAt: number): GatewayError {
  const usd = toUsd(budget).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 9 });
  const amount = `$${usd} ${period === "total" ? "in total" : `per ${period}`}`;
  const advice =
    period === "total"
      ? "Ask the administrator for a higher budget."
      : `Retry after ${new Date(endsAt).toISOString().slice(0, 10)} 00:00 UTC, or ask the administrator for a higher budget.`;
  const message = `The budget for ${holderNames[holder]} is exceeded: ${amount}. ${advice}`;
  return new GatewayError("insufficient_quota", message, { limitedBy: holder, reason: reasons[period] });
}

const reasons: Record<BudgetPeriod, LimitReason> = {
  day: "budget_per_day",
  week: "budget_per_week",
  month: "budget_per_month",
  total: "budget_total",
};
