import type { Database } from "../../../db/database.ts";
import { can } from "../../auth/permissions.ts";
import type { Person } from "../../auth/person.ts";
import type { Settings } from "../../config/variables.ts";
import type { LimitHolder } from "../../errors.ts";
import type { UsageRecord } from "../../usage/recording/spool.ts";
import { holderKinds, type Holder, type LimitedKey } from "../holders.ts";
import { type Budget, type BudgetPeriod, toDefaultBudgets, toUsd } from "../key-limits.ts";
import type { Blocking } from "../rates/waiting-room.ts";
import { BudgetWatch } from "./budget-watch.ts";
import { type BudgetWarning, warnedHolder } from "./budget-warnings.ts";
import { periodAt } from "./ledger.ts";
import { type BudgetedHolder, Reservations, budgetLine, budgetSpent, isLoading } from "./reservations.ts";
import { Spending } from "./spending.ts";

/** The uses of the budgets that several keys share. */
export type SharedBudgetUses = Record<Exclude<LimitHolder, "key">, BudgetUse[]>;

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
  readonly #kinds: Readonly<Record<LimitHolder, HolderBudgets>>;
  /** The kinds whose costs count. */
  readonly #counted: readonly HolderBudgets[];
  readonly #reserved = new Reservations();

  constructor(options: BudgetsOptions) {
    this.#options = options;
    const kinds = holderKinds.map((holder) => new HolderBudgets(holder, options));
    this.#kinds = Object.fromEntries(kinds.map((each) => [each.holder.kind, each])) as Record<
      LimitHolder,
      HolderBudgets
    >;
    this.#counted = kinds.filter(({ isCounted }) => isCounted);
  }

  /** Whether a budget applies to the key's requests. */
  applyTo(key: LimitedKey): boolean {
    return this.#counted.some((each) => each.budgetsOf(key) !== null && each.holder.idOf(key) !== null);
  }

  /**
   * Throws `insufficient_quota` for an exceeded budget, and `service_unavailable` while spending is loading.
   */
  check(key: LimitedKey): void {
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
  linesOf(key: Pick<LimitedKey, "id" | "ownerId">): string[] {
    return holderKinds.flatMap(({ idOf }) => idOf(key) ?? []).map(budgetLine);
  }

  /** The number of holders for which requests in flight reserve a cost. */
  get reservedHolders(): number {
    return this.#reserved.size;
  }

  /** Adds the cost of a finished request, before its record is written. */
  spend(key: LimitedKey, record: UsageRecord): void {
    for (const each of this.#counted) each.spend(key, record);
  }

  /** Runs when records of this process are in the database. */
  shipped(records: readonly UsageRecord[]): void {
    for (const record of records) for (const each of this.#counted) each.shipped(record);
  }

  /** Loads the spending that `check` needs for a key. */
  async loadFor(key: LimitedKey): Promise<void> {
    for (const each of this.#counted) await each.loadFor(key);
  }

  /** Loads the spending of keys, with or without budgets. */
  load(keyIds: readonly string[]): Promise<void> {
    return this.#kinds.key.spending.load(keyIds);
  }

  /** Reloads spending from the database, because other processes also spend. */
  async refresh(): Promise<void> {
    for (const each of this.#counted) await each.refresh();
  }

  /** Lets the budgets of a changed key cause warnings again, because their amounts may have changed. */
  changed(keyId: string): void {
    this.#kinds.key.spending.ledgerOf(keyId)?.forgetWarnings();
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
    return this.#uses({ id: "", ownerId: person.id }, isVisible);
  }

  /** The shared budgets that apply to a key. The caller must hide the gateway's amounts from members. */
  sharedUsesOfKey(key: Pick<LimitedKey, "id" | "ownerId">): Promise<SharedBudgetUses> {
    return this.#uses(key, () => true);
  }

  async #uses(
    key: Pick<LimitedKey, "id" | "ownerId">,
    isVisible: (kind: LimitHolder) => boolean,
  ): Promise<SharedBudgetUses> {
    const shared = Object.values(this.#kinds).filter(({ holder }) => holder.kind !== "key");
    const uses = shared.map(async (each) => {
      const { kind, idOf } = each.holder;
      const id = isVisible(kind) ? idOf(key) : null;
      return [kind, id === null ? [] : await each.uses(id)] as const;
    });
    return Object.fromEntries(await Promise.all(uses)) as SharedBudgetUses;
  }

  #holdersOf(key: LimitedKey): BudgetedHolder[] {
    const budgeted: BudgetedHolder[] = [];
    for (const each of this.#counted) {
      const budgets = each.budgetsOf(key);
      const id = budgets && each.holder.idOf(key);
      if (budgets && id !== null)
        budgeted.push({ holder: each.holder, id, budgets, ledger: each.spending.ledgerOf(id) });
    }
    return budgeted;
  }
}

/** The budgets of all holders of one kind. */
class HolderBudgets {
  readonly holder: Holder;
  readonly spending: Spending;
  readonly #watch: BudgetWatch;
  readonly #now: () => number;
  readonly #defaults: readonly Budget[] | null;

  constructor(holder: Holder, { limits, ...options }: BudgetsOptions) {
    this.holder = holder;
    this.spending = spendingOf(holder, options);
    this.#watch = new BudgetWatch({ ...options, spending: this.spending });
    this.#now = options.now;
    this.#defaults = toDefaultBudgets(holder.defaults(limits).budgetsUsd);
  }

  get isCounted(): boolean {
    return this.holder.costs.countAll || this.#defaults !== null;
  }

  budgetsOf(key: Pick<LimitedKey, "limits">): readonly Budget[] | null {
    return this.holder.limitsOf(key)?.budgets ?? this.#defaults;
  }

  spend(key: LimitedKey, record: UsageRecord): void {
    const id = this.#idOf(record);
    if (id === null) return;
    this.spending.add(id, record);
    const budgets = this.budgetsOf(key);
    if (budgets && this.spending.ledgerOf(id))
      this.#watch.spent(id, warnedHolder(this.holder.kind, id, record), budgets);
  }

  shipped(record: UsageRecord): void {
    const id = this.#idOf(record);
    if (id !== null) this.spending.shipped(id, record);
  }

  async loadFor(key: LimitedKey): Promise<void> {
    const id = this.budgetsOf(key) && this.holder.idOf(key);
    // A key's own budgets may have changed with the key, so that its spending is read again.
    if (id !== null)
      await (this.holder.costs.countAll ? this.spending.load([id]) : this.spending.loadMissing(id));
  }

  /** Also warns for loaded holders with the default budgets and without recent requests in this process. */
  async refresh(): Promise<void> {
    await this.#watch.refresh();
    if (!this.#defaults) return;
    for (const id of this.spending.ledgers.keys())
      this.#watch.notice(id, warnedHolder(this.holder.kind, id), this.#defaults);
  }

  /** Reads the spending of the default budgets from the database, for the console. */
  async uses(id: string): Promise<BudgetUse[]> {
    if (!this.#defaults) return [];
    const ledger = await this.spending.look(id);
    return this.#defaults.map(({ period, amount: budget }) => {
      const { amount: spent, endsAt } = ledger.in(period, this.#now());
      return {
        period,
        budgetUsd: toUsd(budget),
        spentUsd: toUsd(spent),
        // A budget of 0 counts as exceeded.
        spentPercent: budget === 0 ? 100 : Math.floor((spent * 100) / budget),
        endsAt: new Date(endsAt),
      };
    });
  }

  #idOf({ apiKeyId, ownerId }: UsageRecord): string | null {
    return this.holder.idOf({ id: apiKeyId, ownerId });
  }
}

type BudgetUse = {
  period: BudgetPeriod;
  budgetUsd: number;
  spentUsd: number;
  /** Rounded down, so that it reaches 80 and 100 when the warnings are due. */
  spentPercent: number;
  endsAt: Date;
};

/** The longest period of shared budgets is a month, because each refresh reads the whole period. */
function spendingOf(
  { costs }: Holder,
  { database, now, readUndisturbed }: Omit<BudgetsOptions, "limits">,
): Spending {
  const readCosts = async (ids: readonly string[]) => {
    const from = costs.countAll ? undefined : new Date(periodAt("month", now()).startsAt);
    const asked = { of: costs.of, ids: costs.id === undefined ? ids : [costs.id], ...(from && { from }) };
    const found = await database.read(({ usageRollUps }) => usageRollUps.dailyCosts(asked));
    return costs.id === undefined ? found : found.map((cost) => ({ ...cost, id: ids[0] ?? "" }));
  };
  return new Spending({ now, readCosts, readUndisturbed });
}
