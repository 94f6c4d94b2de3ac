import { allKeys } from "../../../db/entities/usage-roll-up.ts";
import type { UsageRecord } from "../../usage/recording/spool.ts";
import type { BudgetHolder } from "./budget-holder.ts";
import { BudgetWatch } from "./budget-watch.ts";
import type { BudgetWarning } from "./budget-warnings.ts";
import { type Budget, type BudgetPeriod, toUsd } from "../key-limits.ts";
import type { Ledger } from "./ledger.ts";
import type { Spending } from "./spending.ts";

/** The spending of a shared budget. */
export type SharedBudgetUse = {
  period: BudgetPeriod;
  budgetUsd: number;
  spentUsd: number;
  /** Rounded down, so that it shows 80 and 100 when the warnings are sent. */
  spentPercent: number;
  /** The time at which the budget resets. */
  endsAt: Date;
};

type SharedBudgetsOptions = {
  budgets: readonly Budget[];
  spending: Spending;
  now: () => number;
  warn: (warning: BudgetWarning) => void;
};

/** Budgets that several keys share, by user ID or `allKeys`. */
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

  /** Reads the spending of other processes, also for holders whose requests are rejected here. */
  async refresh(): Promise<void> {
    const { spending, budgets } = this.#options;
    await this.#watch.refresh();
    for (const id of spending.ledgers.keys()) this.#watch.notice(id, sharedHolder(id), budgets);
  }

  /** The current sums of the database and this process, for the console. */
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
