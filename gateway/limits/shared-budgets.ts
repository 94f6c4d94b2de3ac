import { allKeys } from "../../db/entities/usage-roll-up.ts";
import type { UsageRecord } from "../usage/record-format.ts";
import type { BudgetSubject } from "./budget-subject.ts";
import type { BudgetWarning } from "./budget-warnings.ts";
import type { Budget } from "./key-limits.ts";
import type { Ledger } from "./ledger.ts";
import type { Spending } from "./spending.ts";

type SharedBudgetsOptions = {
  budgets: readonly Budget[];
  spending: Spending;
  now: () => number;
  warn: (warning: BudgetWarning) => void;
};

/** Budgets that the environment gives to several keys together, each by the id of a person, or all of them by `allKeys`. */
export class SharedBudgets {
  readonly #options: SharedBudgetsOptions;
  /** When those who spent lately did it last. */
  readonly #spentAt = new Map<string, number>();

  constructor(options: SharedBudgetsOptions) {
    this.#options = options;
  }

  get budgets(): readonly Budget[] {
    return this.#options.budgets;
  }

  ledgerOf(id: string): Ledger | undefined {
    return this.#options.spending.ledgerOf(id);
  }

  spend(id: string, record: UsageRecord): void {
    const { spending, now } = this.#options;
    spending.add(id, record);
    const ledger = spending.ledgerOf(id);
    if (!ledger) return;
    this.#spentAt.set(id, now());
    this.#notice(id, ledger);
  }

  shipped(id: string, record: UsageRecord): void {
    this.#options.spending.shipped(id, record);
  }

  loadMissing(id: string): Promise<void> {
    return this.#options.spending.loadMissing(id);
  }

  /**
   * Brings in what other processes have spent. Together with that a budget may be spent although it was not when a request
   * ended here, and perhaps no other will: so it is looked for whoever spent lately, until others' records must have come.
   */
  async refresh(): Promise<void> {
    const { spending, now } = this.#options;
    const from = now();
    for (const id of this.#spentAt.keys()) {
      const ledger = spending.ledgerOf(id);
      if (ledger) ledger.isInUse = true;
    }
    await spending.refresh();
    for (const [id, ledger] of spending.ledgers) this.#notice(id, ledger);
    for (const [id, spentAt] of this.#spentAt) {
      if (from - spentAt > othersRecordsMs) this.#spentAt.delete(id);
    }
  }

  #notice(id: string, ledger: Ledger): void {
    const { budgets, warn } = this.#options;
    const now = this.#options.now();
    for (const budget of budgets) {
      const part = ledger.takeWarning(budget, now);
      if (part) warn({ subject: sharedSubject(id), ...part });
    }
  }
}

/** Within it, what others spent is in the database; it takes them a flush and a write, if all is well a tenth of a second. */
const othersRecordsMs = 10_000;

function sharedSubject(id: string): BudgetSubject {
  const isOfAll = id === allKeys;
  return {
    scope: isOfAll ? "gateway" : "person",
    ...{ apiKeyId: null, apiKeyName: null },
    ownerId: isOfAll ? null : id,
  };
}
