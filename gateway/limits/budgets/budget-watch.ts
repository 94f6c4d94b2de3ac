import type { Budget } from "../limit-table.ts";
import type { BudgetHolder, BudgetWarning } from "./budget-warnings.ts";
import type { Spending } from "./spending.ts";

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

  /** Ends the watch of budgets that have changed. The next request begins it again. */
  forget(id: string): void {
    this.#spenders.delete(id);
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
