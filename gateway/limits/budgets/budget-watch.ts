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

/** Gives the warnings of budgets: as requests end here, and as what other processes have spent is read. */
export class BudgetWatch {
  readonly #options: BudgetWatchOptions;
  readonly #spenders = new Map<string, Spender>();

  constructor(options: BudgetWatchOptions) {
    this.#options = options;
  }

  /** A request has ended, and what it cost is counted. */
  spent(id: string, holder: BudgetHolder, budgets: readonly Budget[]): void {
    this.#spenders.set(id, { holder, budgets, spentAt: this.#options.now() });
    this.notice(id, holder, budgets);
  }

  /**
   * Brings in what other processes have spent. Together with that a budget may be spent although it was not when a request
   * ended here, and perhaps no other will: so it is looked for whoever spent lately, until others' records must have come.
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

  /** Gives the warnings that are due by what is known now. */
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

/** Within it, what others spent is in the database; it takes them a flush and a write, if all is well a tenth of a second. */
const othersRecordsMs = 10_000;
