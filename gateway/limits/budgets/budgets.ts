import type { Database } from "../../../db/database.ts";
import { allKeys } from "../../../db/entities/usage-roll-up.ts";
import type { DailyCostsOf } from "../../../db/repositories/daily-costs-query.ts";
import type { Person } from "../../auth/person.ts";
import { type LimitReason, type LimitHolder, GatewayError } from "../../errors.ts";
import type { Settings } from "../../config/limit-variables.ts";
import type { UsageRecord } from "../../usage/recording/segment.ts";
import { type Ledger, periodAt } from "./ledger.ts";
import { BudgetWatch } from "./budget-watch.ts";
import type { BudgetWarning } from "./budget-warnings.ts";
import {
  type Budget,
  type BudgetPeriod,
  type EnforcedLimits,
  holderNames,
  toSharedBudgets,
  toUsd,
} from "../key-limits.ts";
import { type SharedBudgetUse, SharedBudgets } from "./shared-budgets.ts";
import { Spending } from "./spending.ts";

/** Of a person's keys together, and of all keys; empty where there is no budget. */
export type SharedBudgetUses = { person: SharedBudgetUse[]; gateway: SharedBudgetUse[] };

type BudgetedKey = Readonly<{ id: string; ownerId: string | null; limits: EnforcedLimits | null }>;

type BudgetsOptions = {
  database: Database;
  now: () => number;
  limits: Settings;
  /** Runs `read` while nothing of this process's is on its way to the database. */
  readUndisturbed: (read: () => Promise<void>) => Promise<void>;
  warn: (warning: BudgetWarning) => void;
};

/**
 * Keeps keys to their own budgets, and to those that the environment gives to all keys of a person and to all keys together.
 * What each of them has spent is counted by itself, by ids of a key, of a person, or `allKeys`, because it is read back from
 * other sums of the usage history; where the environment gives no budget, nothing is counted for it.
 */
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

  /** Throws `insufficient_quota` when a budget that the key has, or has a part in, is spent. */
  check({ id, ownerId, limits }: BudgetedKey): void {
    if (limits?.budgets) this.#check("key", limits.budgets, this.#keys.ledgerOf(id));
    if (this.#people && ownerId !== null) {
      this.#check("person", this.#people.budgets, this.#people.ledgerOf(ownerId));
    }
    if (this.#gateway) this.#check("gateway", this.#gateway.budgets, this.#gateway.ledgerOf(allKeys));
  }

  /** A request is over, and this is what it cost. Called before its record is written. */
  spend({ limits }: Pick<BudgetedKey, "limits">, record: UsageRecord): void {
    const { apiKeyId, apiKeyName, ownerId } = record;
    this.#keys.add(apiKeyId, record);
    if (ownerId !== null) this.#people?.spend(ownerId, record);
    this.#gateway?.spend(allKeys, record);
    if (!limits?.budgets) return;
    this.#keyWatch.spent(apiKeyId, { kind: "key", apiKeyId, apiKeyName, ownerId }, limits.budgets);
  }

  /** Records of this process have come to the database. */
  shipped(records: readonly UsageRecord[]): void {
    for (const record of records) {
      const { apiKeyId, ownerId } = record;
      this.#keys.shipped(apiKeyId, record);
      if (ownerId !== null) this.#people?.shipped(ownerId, record);
      this.#gateway?.shipped(allKeys, record);
    }
  }

  /** Has to be done before the key's requests are let in. What it shares with others is mostly known already. */
  async loadFor({ id, ownerId, limits }: BudgetedKey): Promise<void> {
    if (limits?.budgets) await this.#keys.load([id]);
    if (ownerId !== null) await this.#people?.loadMissing(ownerId);
    await this.#gateway?.loadMissing(allKeys);
  }

  /** Reads what keys have spent, whether they have budgets or not. */
  load(keyIds: readonly string[]): Promise<void> {
    return this.#keys.load(keyIds);
  }

  /** Brings in what other processes have spent of the budgets that are in use here. */
  async refresh(): Promise<void> {
    await this.#keyWatch.refresh();
    await this.#people?.refresh();
    await this.#gateway?.refresh();
  }

  /** A key has changed, and with it perhaps its budgets. It is loaded again, but requests under way need what is known. */
  changed(keyId: string): void {
    this.#keys.ledgerOf(keyId)?.forgetWarnings();
  }

  /** A key is gone, or will be loaded again before it is used; without an id, all. Shared budgets do not change. */
  forget(keyId?: string): void {
    this.#keys.forget(keyId);
  }

  /** What a key has spent in a period; null if it has not been loaded. */
  spentIn(keyId: string, period: BudgetPeriod): { amount: number; startsAt: number; endsAt: number } | null {
    return this.#keys.ledgerOf(keyId)?.in(period, this.#options.now()) ?? null;
  }

  /** What is spent of the budgets that a person may know of. Reads nothing where the environment gives none. */
  async sharedUses({ id, role }: Pick<Person, "id" | "role">): Promise<SharedBudgetUses> {
    return {
      person: (await this.#people?.uses(id)) ?? [],
      gateway: (role === "admin" && (await this.#gateway?.uses(allKeys))) || [],
    };
  }

  /** What is spent of the budgets that a key has a part in. Not everybody who sees the key may know all of it. */
  async sharedUsesOfKey({ ownerId }: Pick<BudgetedKey, "ownerId">): Promise<SharedBudgetUses> {
    return {
      person: (ownerId !== null && (await this.#people?.uses(ownerId))) || [],
      gateway: (await this.#gateway?.uses(allKeys)) ?? [],
    };
  }

  #check(holder: LimitHolder, budgets: readonly Budget[], ledger: Ledger | undefined): void {
    if (!ledger) {
      const message = `What ${holderNames[holder]} has spent is being read. Try again in a moment.`;
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

/** Null for no budget. None is of a longer time than a month, because all of it is read each time that it is brought up to date. */
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

/** @param from the first moment that counts; without it, everything does */
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
  const amount = `$${toUsd(budget)} ${period === "total" ? "in total" : `per ${period}`}`;
  const renewal =
    period === "total"
      ? ""
      : ` It begins anew on ${new Date(endsAt).toISOString().slice(0, 10)} at 00:00 UTC.`;
  const message = `The budget of ${holderNames[holder]} is spent: ${amount}.${renewal} Ask whoever gave you the key for more.`;
  return new GatewayError("insufficient_quota", message, { limitedBy: holder, reason: reasons[period] });
}

const reasons: Record<BudgetPeriod, LimitReason> = {
  day: "budget_per_day",
  week: "budget_per_week",
  month: "budget_per_month",
  total: "budget_total",
};
