import type { Database } from "../../../db/database.ts";
import { allKeys } from "../../../db/entities/usage-roll-up.ts";
import type { DailyCostsOf } from "../../../db/repositories/daily-costs-query.ts";
import { can } from "../../auth/permissions.ts";
import type { Person } from "../../auth/person.ts";
import type { Blocking } from "../rates/waiting-room.ts";
import type { Settings } from "../../config/limit-variables.ts";
import type { UsageRecord } from "../../usage/recording/spool.ts";
import { periodAt, type Ledger } from "./ledger.ts";
import { BudgetWatch, type SharedBudgetUse, SharedBudgets } from "./shared-budgets.ts";
import type { BudgetWarning } from "./budget-warnings.ts";
import {
  type BudgetPeriod,
  type EnforcedLimits,
  toSharedBudgets,
  type Budget,
  holderNames,
  toUsd,
} from "../key-limits.ts";
import { Spending } from "./spending.ts";
import { type LimitHolder, GatewayError, type LimitReason } from "../../errors.ts";

export type SharedBudgetUses = { person: SharedBudgetUse[]; gateway: SharedBudgetUse[] };

type BudgetedKey = Readonly<{ id: string; ownerId: string | null; limits: EnforcedLimits | null }>;

type BudgetsOptions = {
  database: Database;
  now: () => number;
  monotonicNow: () => number;
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
  /** The IDs of all kinds of holders differ. */
  readonly #reserved = new Reservations();

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

  /** Whether a budget applies to the key's requests. */
  applyTo({ ownerId, limits }: Pick<BudgetedKey, "ownerId" | "limits">): boolean {
    return Boolean(limits?.budgets || (this.#people && ownerId !== null) || this.#gateway);
  }

  /**
   * Throws `insufficient_quota` for an exceeded budget, and `service_unavailable` while spending is loading.
   */
  check(key: BudgetedKey): void {
    if (!this.applyTo(key)) return;
    const now = this.#options.now();
    for (const { holder, budgets, ledger } of this.#holdersOf(key)) {
      if (!ledger) throw isLoading(holder);
      ledger.isInUse = true;
      for (const budget of budgets) {
        const { amount, endsAt } = ledger.in(budget.period, now);
        if (amount >= budget.amount) throw budgetSpent(holder, budget, endsAt);
      }
    }
  }

  /**
   * Finds the budget that has no room for a cost beside the requests in flight. A budget without other reservations
   * has room for any cost, so that its last cents can be used.
   * @param mustWait whether others wait already for the holder's budget, which `line` identifies
   */
  findBlocking(key: BudgetedKey, cost: number, mustWait: (line: string) => boolean): Blocking | null {
    if (cost === 0 || !this.applyTo(key)) return null;
    return this.#reserved.findBlocking(this.#holdersOf(key), { cost, now: this.#options.now(), mustWait });
  }

  /** Returns a function that ends the reservation, or null without a budget or a cost. */
  reserve(key: BudgetedKey, cost: number): (() => void) | null {
    if (cost === 0 || !this.applyTo(key)) return null;
    const ids = this.#holdersOf(key).map(({ id }) => id);
    return this.#reserved.add(ids, cost);
  }

  /** The lines in which requests of the key wait for a budget. */
  linesOf({ id, ownerId }: Pick<BudgetedKey, "id" | "ownerId">): string[] {
    return [id, ownerId ?? [], allKeys].flat().map(budgetLine);
  }

  /** The number of holders for which requests in flight reserve a cost. */
  get reservedHolders(): number {
    return this.#reserved.size;
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

  async sharedUses(person: Pick<Person, "id" | "role">): Promise<SharedBudgetUses> {
    return {
      person: (await this.#people?.uses(person.id)) ?? [],
      gateway: (can(person, "budgets.ofGateway") && (await this.#gateway?.uses(allKeys))) || [],
    };
  }

  /** The shared budgets that apply to a key. The caller must hide the gateway's amounts from members. */
  async sharedUsesOfKey({ ownerId }: Pick<BudgetedKey, "ownerId">): Promise<SharedBudgetUses> {
    return {
      person: (ownerId !== null && (await this.#people?.uses(ownerId))) || [],
      gateway: (await this.#gateway?.uses(allKeys)) ?? [],
    };
  }

  #holdersOf({ id, ownerId, limits }: BudgetedKey): BudgetedHolder[] {
    const holders: BudgetedHolder[] = [];
    const [keys, people, gateway] = [this.#keys, this.#people, this.#gateway];
    if (limits?.budgets) {
      holders.push({ holder: "key", id, budgets: limits.budgets, ledger: keys.ledgerOf(id) });
    }
    if (people && ownerId !== null) {
      const { budgets } = people;
      holders.push({ holder: "person", id: ownerId, budgets, ledger: people.ledgerOf(ownerId) });
    }
    if (gateway) {
      const { budgets } = gateway;
      holders.push({ holder: "gateway", id: allKeys, budgets, ledger: gateway.ledgerOf(allKeys) });
    }
    return holders;
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
  const { now, monotonicNow, warn } = options;
  return new SharedBudgets({ budgets, spending: spendingOf(options, of, from), now, monotonicNow, warn });
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

/**
 * The probable costs of requests in flight, in nano-dollars, by the ID of the budget's holder. They are in memory
 * only, so that a restart has none.
 */
class Reservations {
  readonly #sums = new Map<string, number>();

  /** The number of holders with a reservation. */
  get size(): number {
    return this.#sums.size;
  }

  of(id: string): number {
    return this.#sums.get(id) ?? 0;
  }

  /** Finds the first budget without room for the cost beside other reservations. */
  findBlocking(holders: readonly BudgetedHolder[], { cost, now, mustWait }: Wanted): Blocking | null {
    for (const { id, holder, budgets, ledger } of holders) {
      const reserved = this.of(id);
      if (!ledger || reserved === 0) continue;
      const line = budgetLine(id);
      const isLate = mustWait(line);
      for (const budget of budgets) {
        const { amount } = ledger.in(budget.period, now);
        if (isLate || amount + reserved + cost > budget.amount) {
          return { line, refusal: () => budgetReserved(holder, budget) };
        }
      }
    }
    return null;
  }

  /** Returns a function that ends the reservation. Its further calls have no effect. */
  add(ids: readonly string[], cost: number): () => void {
    for (const id of ids) this.#sums.set(id, this.of(id) + cost);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      for (const id of ids) {
        const left = this.of(id) - cost;
        if (left > 0) this.#sums.set(id, left);
        else this.#sums.delete(id);
      }
    };
  }
}

type BudgetedHolder = {
  holder: LimitHolder;
  id: string;
  budgets: readonly Budget[];
  ledger: Ledger | undefined;
};

/** `mustWait` returns whether others already wait in a line. */
type Wanted = { cost: number; now: number; mustWait: (line: string) => boolean };

/** The name of the line in which requests wait for a holder's budgets. */
const budgetLine = (id: string): string => `budget ${id}`;

function isLoading(holder: LimitHolder): GatewayError {
  const message = `Budget data for ${holderNames[holder]} is loading. Retry in a moment.`;
  return new GatewayError("service_unavailable", message, { retryAfterSeconds: 1 });
}

function budgetSpent(holder: LimitHolder, budget: Budget, endsAt: number): GatewayError {
  const advice =
    budget.period === "total"
      ? "Ask the administrator for a higher budget."
      : `Retry after ${formatDay(endsAt)} 00:00 UTC, or ask the administrator for a higher budget.`;
  const message = `The budget for ${holderNames[holder]} is exceeded: ${describe(budget)}. ${advice}`;
  return new GatewayError("insufficient_quota", message, {
    limitedBy: holder,
    reason: reasons[budget.period],
  });
}

/**
 * The response to a request that waited without success. Clients take 402 as final, but requests in flight usually
 * return a part of what they reserve.
 */
function budgetReserved(holder: LimitHolder, budget: Budget): GatewayError {
  const message = `Requests in progress hold the rest of the budget for ${holderNames[holder]}: ${describe(budget)}. Retry in ${reservedRetrySeconds} s, when some of them have finished.`;
  const details = { limitedBy: holder, reason: reasons[budget.period] };
  return new GatewayError("rate_limit_exceeded", message, {
    ...details,
    retryAfterSeconds: reservedRetrySeconds,
  });
}

const reservedRetrySeconds = 5;

function formatDay(endsAt: number): string {
  return new Date(endsAt).toISOString().slice(0, 10);
}

function describe({ period, amount }: Budget): string {
  const usd = toUsd(amount).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 9 });
  return `$${usd} ${period === "total" ? "in total" : `per ${period}`}`;
}

const reasons: Record<BudgetPeriod, LimitReason> = {
  day: "budget_per_day",
  week: "budget_per_week",
  month: "budget_per_month",
  total: "budget_total",
};
