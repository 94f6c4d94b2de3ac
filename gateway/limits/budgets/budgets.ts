import type { Database } from "../../../db/database.ts";
import { type HeldKey, noHolders } from "../../../db/entities/api-key.ts";
import type { BudgetPeriod } from "../../../db/entities/limits.ts";
import { can } from "../../auth/permissions.ts";
import type { Person } from "../../auth/person.ts";
import type { Settings } from "../../config/variables.ts";
import type { LimitHolder } from "../../errors.ts";
import type { UsageRecord } from "../../usage/recording/spool.ts";
import { holderKinds, type Holder, holderOf, type LimitedKey, LimitsInForce } from "../holders.ts";
import { byName, toUsd } from "../limit-table.ts";
import type { Blocking } from "../rates/waiting-room.ts";
import { BudgetWatch } from "./budget-watch.ts";
import { type BudgetWarning, warnedHolder } from "./budget-warnings.ts";
import { type BudgetedHolder, Reservations, budgetLine, budgetSpent, isLoading } from "./reservations.ts";
import { countedCost, idsPerQuery, Spending, type SpendingOptions, UnshippedCosts } from "./spending.ts";
import { StoredCosts } from "./stored-costs.ts";

/** The uses of the budgets that several keys share. */
export type SharedBudgetUses = Record<Exclude<LimitHolder, "key">, BudgetUse[]>;

type BudgetsOptions = {
  database: Database;
  now: () => number;
  monotonicNow: () => number;
  limits: Settings;
  /** By default, those of the settings. */
  inForce?: LimitsInForce;
  /** Calls `read` while no record of this process is in flight to the database. */
  readUndisturbed: (read: () => Promise<void>) => Promise<void>;
  warn: (warning: BudgetWarning) => void;
};

export class Budgets {
  readonly #options: BudgetsOptions;
  readonly #inForce: LimitsInForce;
  readonly #kinds: Readonly<Record<LimitHolder, HolderBudgets>>;
  /** The same, in the order of holders. */
  readonly #each: readonly HolderBudgets[];
  readonly #reserved = new Reservations();
  readonly #unshipped = new UnshippedCosts();

  constructor(options: BudgetsOptions) {
    this.#options = options;
    this.#inForce = options.inForce ?? new LimitsInForce(options.limits);
    const kinds = holderKinds.map(({ kind }) => kind);
    this.#kinds = byName(kinds, (kind) => this.#budgetsOf(holderOf(kind)));
    this.#each = Object.values(this.#kinds);
  }

  /** Whether a budget applies to the key's requests. */
  applyTo(key: LimitedKey): boolean {
    return this.#inForce.of(key).budgeted.length > 0;
  }

  /**
   * Throws `insufficient_quota` for an exceeded budget, and `service_unavailable` if its spending is unknown. A new
   * budget lets requests pass until its spending is loaded.
   */
  check(key: LimitedKey): void {
    const now = this.#options.now();
    for (const { holder, id, budgets, ledger } of this.#holdersOf(key)) {
      if (!ledger) {
        if (this.#kinds[holder.kind].startLoading(id)) continue;
        throw isLoading(holder);
      }
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
  findBlocking(key: LimitedKey, cost: number, mustWait: (line: string) => boolean): Blocking | null {
    if (cost === 0) return null;
    return this.#reserved.findBlocking(this.#holdersOf(key), { cost, now: this.#options.now(), mustWait });
  }

  /** Returns a function that ends the reservation, or null without a budget or a cost. */
  reserve(key: LimitedKey, cost: number): (() => void) | null {
    if (cost === 0) return null;
    const ids = this.#holdersOf(key).map(({ id }) => id);
    return ids.length === 0 ? null : this.#reserved.add(ids, cost);
  }

  /** The lines in which requests of the key wait for a budget. */
  linesOf(key: HeldKey): string[] {
    return holderKinds.flatMap(({ idOf }) => idOf(key) ?? []).map(budgetLine);
  }

  /** The number of holders for which requests in flight reserve a cost. */
  get reservedHolders(): number {
    return this.#reserved.size;
  }

  /** Adds the cost of a finished request, before its record is written. */
  spend(key: LimitedKey, record: UsageRecord): void {
    this.#unshipped.add(record);
    for (const each of this.#each) each.spend(key, record);
  }

  /** Runs when records of this process are in the database. */
  shipped(records: readonly UsageRecord[]): void {
    for (const record of records) this.#unshipped.shipped(record);
  }

  /** Loads the spending that `check` needs for a key. */
  async loadFor(key: LimitedKey): Promise<void> {
    const { version } = this.#inForce;
    for (const { holder, id } of this.#inForce.of(key).budgeted) await this.#kinds[holder.kind].loadFor(id);
    // The limits can change while spending is read.
    if (this.#inForce.version !== version) await this.loadFor(key);
  }

  /**
   * Loads the spending of new budgets, or leaves it to `refresh` if there are many.
   * @param keys those whose requests may come at any moment
   * @param changed the holder whose limits have changed. Null for all holders.
   */
  async limitsChanged(keys: Iterable<LimitedKey>, changed: string | null): Promise<void> {
    for (const each of this.#each) each.limitsChanged(changed);
    for (const key of keys) for (const each of this.#each) each.limitsOfKeyChanged(key, changed);
    // After a failure, `refresh` tries again and logs it. Revocations of keys must not wait until it succeeds.
    for (const each of this.#each) await each.loadSome().catch(() => {});
  }

  /** Loads the spending of keys, with or without budgets. */
  load(keyIds: readonly string[]): Promise<void> {
    return this.#kinds.key.spending.load(keyIds);
  }

  /** Reloads spending from the database, because other processes also spend. */
  async refresh(): Promise<void> {
    for (const each of this.#each) await each.refresh();
  }

  /** Lets the budgets of a changed key cause warnings again, because their amounts may have changed. */
  changed(keyId: string): void {
    this.#kinds.key.forgetWarnings(keyId);
  }

  /** Drops the spending of one key, or of all keys if `keyId` is undefined. Shared spending stays loaded. */
  forget(keyId?: string): void {
    this.#kinds.key.spending.forget(keyId);
  }

  /** Null if the key's spending is not loaded. */
  spentIn(keyId: string, period: BudgetPeriod): { amount: number; startsAt: number; endsAt: number } | null {
    return this.#kinds.key.spending.ledgerOf(keyId)?.in(period, this.#options.now()) ?? null;
  }

  /** The shared budgets of a person's keys, which the person may see. */
  sharedUses(person: Pick<Person, "id" | "role">): Promise<SharedBudgetUses> {
    const isVisible = (kind: LimitHolder) => kind !== "gateway" || can(person, "budgets.ofGateway");
    return this.#uses({ ...noHolders, id: "", ownerId: person.id }, isVisible);
  }

  /** The shared budgets that apply to a key. The caller must hide the gateway's amounts from members. */
  sharedUsesOfKey(key: HeldKey): Promise<SharedBudgetUses> {
    return this.#uses(key, () => true);
  }

  async #uses(key: HeldKey, isVisible: (kind: LimitHolder) => boolean): Promise<SharedBudgetUses> {
    const shared = Object.values(this.#kinds).filter(({ holder }) => holder.kind !== "key");
    const uses = shared.map(async (each) => {
      const { kind, idOf } = each.holder;
      const id = isVisible(kind) ? idOf(key) : null;
      return [kind, id === null ? [] : await each.uses(id)] as const;
    });
    return Object.fromEntries(await Promise.all(uses)) as SharedBudgetUses;
  }

  #budgetsOf(holder: Holder): HolderBudgets {
    const unshipped = () => this.#unshipped.by(holder.idOf);
    return new HolderBudgets(holder, { ...this.#options, inForce: this.#inForce, unshipped });
  }

  #holdersOf(key: LimitedKey): BudgetedHolder[] {
    return this.#inForce.of(key).budgeted.map(({ holder, id, limits }) => ({
      holder,
      id,
      budgets: limits.budgets ?? [],
      ledger: this.#kinds[holder.kind].spending.ledgerOf(id),
    }));
  }
}

type HolderBudgetsOptions = BudgetsOptions & { inForce: LimitsInForce } & Pick<SpendingOptions, "unshipped">;

/** The budgets of all holders of one kind. */
class HolderBudgets {
  readonly holder: Holder;
  readonly spending: Spending;
  readonly #inForce: LimitsInForce;
  readonly #watch: BudgetWatch;
  readonly #now: () => number;
  /** The holders whose spending the next refresh loads, and whether their requests may pass until then. */
  readonly #loading = new Map<string, boolean>();

  constructor(holder: Holder, options: HolderBudgetsOptions) {
    this.holder = holder;
    this.#inForce = options.inForce;
    const costs = new StoredCosts({ ...options, holder });
    this.spending = new Spending({ ...options, readCosts: (ids) => costs.read(ids) });
    this.#watch = new BudgetWatch({ ...options, spending: this.spending });
    this.#now = options.now;
  }

  /**
   * Returns whether the holder's requests may pass until the spending is loaded.
   * @param isNew whether the budget is new. Otherwise spending is missing that was known before.
   */
  startLoading(id: string, isNew = false): boolean {
    const mayPass = this.#loading.get(id) ?? isNew;
    this.#loading.set(id, mayPass);
    return mayPass;
  }

  spend(key: LimitedKey, record: UsageRecord): void {
    const id = this.holder.idOf(key);
    const ledger = id === null ? undefined : this.spending.ledgerOf(id);
    if (id === null || !ledger) return;
    ledger.add(countedCost(record), record.createdAt.getTime(), this.#now());
    const held = this.#inForce.of(key).budgeted.find(({ holder }) => holder === this.holder);
    if (held?.limits.budgets)
      this.#watch.spent(id, warnedHolder(this.holder.kind, id, record), held.limits.budgets);
  }

  /** A key's own budgets may have changed with the key, so that its spending is read again. */
  async loadFor(id: string): Promise<void> {
    await (this.holder.isRowOf ? this.spending.loadMissing(id) : this.spending.load([id]));
  }

  /** Concerns the loaded holders, also those without a cached key. */
  limitsChanged(changed: string | null): void {
    for (const id of this.spending.ledgers.keys()) {
      if (!this.#concerns(id, changed)) continue;
      this.forgetWarnings(id);
      // A new lifetime budget needs earlier costs. Those of keys are always loaded.
      if (this.holder.isRowOf && this.#inForce.enforced(this.holder, id).budgets) this.startLoading(id, true);
    }
  }

  limitsOfKeyChanged(key: LimitedKey, changed: string | null): void {
    const id = this.holder.idOf(key);
    if (id === null || !this.#concerns(id, changed) || this.spending.ledgerOf(id)) return;
    if (this.#inForce.enforced(this.holder, id, key.limits).budgets) this.startLoading(id, true);
  }

  #concerns(id: string, changed: string | null): boolean {
    return changed === null || changed === id || changed === this.holder.rowForEach;
  }

  forgetWarnings(id: string): void {
    this.#watch.forget(id);
    this.spending.ledgerOf(id)?.forgetWarnings();
  }

  /** One query, because a change may concern thousands, and revocations of keys wait for it. */
  async loadSome(): Promise<void> {
    const ids = [...this.#loading.keys()].slice(0, idsPerQuery);
    if (ids.length === 0) return;
    await this.spending.load(ids);
    for (const id of ids) this.#loading.delete(id);
  }

  /** Also warns for loaded holders without recent requests in this process. A key's warning needs a request. */
  async refresh(): Promise<void> {
    while (this.#loading.size > 0) await this.loadSome();
    await this.#watch.refresh();
    if (!this.holder.isRowOf) return;
    for (const id of this.spending.ledgers.keys()) {
      const { budgets } = this.#inForce.enforced(this.holder, id);
      if (budgets) this.#watch.notice(id, warnedHolder(this.holder.kind, id), budgets);
    }
  }

  /** Reads the spending of a holder's budgets from the database, for the console. */
  async uses(id: string): Promise<BudgetUse[]> {
    const { budgets } = this.#inForce.enforced(this.holder, id);
    if (!budgets) return [];
    const ledger = await this.spending.look(id);
    return budgets.map(({ period, amount: budget }) => {
      const { amount: spent, endsAt } = ledger.in(period, this.#now());
      return {
        period,
        budgetUsd: toUsd(budget),
        spentUsd: toUsd(spent),
        // A budget of 0 counts as exceeded.
        spentPercent: budget === 0 ? 100 : Math.floor((spent * 100) / budget),
        endsAt: period === "total" ? null : new Date(endsAt),
      };
    });
  }
}

type BudgetUse = {
  period: BudgetPeriod;
  budgetUsd: number;
  spentUsd: number;
  /** Rounded down, so that it reaches 80 and 100 when the warnings are due. */
  spentPercent: number;
  /** Null for the lifetime budget. */
  endsAt: Date | null;
};
