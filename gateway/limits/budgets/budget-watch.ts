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

/** Creates budget warnings when requests end here and when other processes' costs are read. */
export class BudgetWatch {
  readonly #options: BudgetWatchOptions;
  readonly #spenders = new Map<string, Spender>();

  constructor(options: BudgetWatchOptions) {
    this.#options = options;
  }

  /** Called when a request has ended and its cost is counted. */
  spent(id: string, holder: BudgetHolder, budgets: readonly Budget[]): void {
    this.#spenders.set(id, { holder, budgets, spentAt: this.#options.now() });
    this.notice(id, holder, budgets);
  }

  /**
   * Reads what other processes have spent. The sum can exceed a budget without another request here. So recent spenders
   * are checked until the others' records must have arrived.
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

/** Other processes' costs reach the database within this time. Usually it takes a tenth of a second. */
const othersRecordsMs = 10_000;
