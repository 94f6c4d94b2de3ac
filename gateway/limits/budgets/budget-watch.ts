import type { BudgetHolder } from "./budget-holder.ts";
import type { BudgetWarning } from "./budget-warnings.ts";
import type { Budget } from "../key-limits.ts";
import type { Spending } from "./spending.ts";

type BudgetWatchOptions = {
  spending: Spending;
  now: () => number;
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

  /** Runs when a request has ended and its cost is counted. */
  spent(id: string, holder: BudgetHolder, budgets: readonly Budget[]): void {
    this.#spenders.set(id, { holder, budgets, spentAt: this.#options.now() });
    this.notice(id, holder, budgets);
  }

  /**
   * Reads the spending of other processes. The sum can exceed a budget without another request here, so
   * recent spenders are checked until all records must have arrived.
   */
  async refresh(): Promise<void> {
    const { spending, now } = this.#options;
    const from = now();
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

  /** Creates the due warnings from the current sums. */
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
 * The maximum delay of other processes' costs before they reach the database. The usual delay is a tenth of a
 * second.
 */
const othersRecordsMs = 10_000;
