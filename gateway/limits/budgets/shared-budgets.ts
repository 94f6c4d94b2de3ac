import { allKeys } from "../../../db/entities/usage-roll-up.ts";
import type { UsageRecord } from "../../usage/recording/spool.ts";
import type { BudgetHolder, BudgetWarning } from "./budget-warnings.ts";
import { type Budget, type BudgetPeriod, toUsd } from "../key-limits.ts";
import type { Ledger } from "./ledger.ts";
import type { Spending } from "./spending.ts";

export type SharedBudgetUse = {
  period: BudgetPeriod;
  budgetUsd: number;
  spentUsd: number;
  /** Rounded down, so that it reaches 80 and 100 when the warnings are due. */
  spentPercent: number;
  endsAt: Date;
};

type SharedBudgetsOptions = {
  budgets: readonly Budget[];
  spending: Spending;
  now: () => number;
  monotonicNow: () => number;
  warn: (warning: BudgetWarning) => void;
};

/** Budgets that several keys share. The ID is a user ID or `allKeys`. */
export class SharedBudgets {
  readonly #options: SharedBudgetsOptions;
  readonly #watch: BudgetWatch;

  constructor(options: SharedBudgetsOptions) {
    this.#options = options;
    this.#watch = new BudgetWatch(options);
  }

  get budgets(): readonly Budget[] {
    return this.#options.budgets;
  }

  ledgerOf(id: string): Ledger | undefined {
    return this.#options.spending.ledgerOf(id);
  }

  spend(id: string, record: UsageRecord): void {
    const { spending, budgets } = this.#options;
    spending.add(id, record);
    if (spending.ledgerOf(id)) this.#watch.spent(id, sharedHolder(id), budgets);
  }

  shipped(id: string, record: UsageRecord): void {
    this.#options.spending.shipped(id, record);
  }

  loadMissing(id: string): Promise<void> {
    return this.#options.spending.loadMissing(id);
  }

  /** Also warns for loaded holders without recent requests in this process. */
  async refresh(): Promise<void> {
    const { spending, budgets } = this.#options;
    await this.#watch.refresh();
    for (const id of spending.ledgers.keys()) this.#watch.notice(id, sharedHolder(id), budgets);
  }

  /** Reads the spending from the database, for the console. */
  async uses(id: string): Promise<SharedBudgetUse[]> {
    const { budgets, spending, now } = this.#options;
    const ledger = await spending.look(id);
    return budgets.map(({ period, amount: budget }) => {
      const { amount: spent, endsAt } = ledger.in(period, now());
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
}

function sharedHolder(id: string): BudgetHolder {
  const isOfAll = id === allKeys;
  return {
    kind: isOfAll ? "gateway" : "person",
    apiKeyId: null,
    apiKeyName: null,
    ownerId: isOfAll ? null : id,
  };
}

type BudgetWatchOptions = {
  spending: Spending;
  now: () => number;
  monotonicNow: () => number;
  warn: (warning: BudgetWarning) => void;
};

type Spender = { holder: BudgetHolder; budgets: readonly Budget[]; spentAt: number };

/** Creates budget warnings when requests end, and when costs of other processes are read. */
export class BudgetWatch {
  readonly #options: BudgetWatchOptions;
  readonly #spenders = new Map<string, Spender>();

  constructor(options: BudgetWatchOptions) {
    this.#options = options;
  }

  spent(id: string, holder: BudgetHolder, budgets: readonly Budget[]): void {
    this.#spenders.set(id, { holder, budgets, spentAt: this.#options.monotonicNow() });
    this.notice(id, holder, budgets);
  }

  /**
   * Other processes' costs can arrive after the last request in this process, so a spender stays watched for
   * `othersRecordsMs`.
   */
  async refresh(): Promise<void> {
    const { spending, monotonicNow } = this.#options;
    const from = monotonicNow();
    for (const id of this.#spenders.keys()) {
      const ledger = spending.ledgerOf(id);
      if (ledger) ledger.isInUse = true;
    }
    await spending.refresh();
    for (const [id, { holder, budgets, spentAt }] of this.#spenders) {
      this.notice(id, holder, budgets);
      if (from - spentAt > othersRecordsMs) this.#spenders.delete(id);
    }
  }

  notice(id: string, holder: BudgetHolder, budgets: readonly Budget[]): void {
    const { spending, now, warn } = this.#options;
    const ledger = spending.ledgerOf(id);
    if (!ledger) return;
    for (const budget of budgets) {
      const part = ledger.takeWarning(budget, now());
      if (part) warn({ holder, ...part });
    }
  }
}

/**
 * The assumed maximum delay before other processes' costs reach the database. The usual delay is a tenth of a
 * second.
 */
const othersRecordsMs = 10_000;
