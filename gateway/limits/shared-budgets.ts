import { allKeys } from "../../db/entities/usage-roll-up.ts";
import type { UsageRecord } from "../usage/record-format.ts";
import type { BudgetSubject } from "./budget-subject.ts";
import type { BudgetWarning } from "./budget-warnings.ts";
import { type Budget, type BudgetPeriod, toUsd } from "./key-limits.ts";
import type { Ledger } from "./ledger.ts";
import type { Spending } from "./spending.ts";

/** What is spent of a budget that keys share. */
export type SharedBudgetUse = {
  period: BudgetPeriod;
  budgetUsd: number;
  spentUsd: number;
  /** Rounded down, so that it is 80 and 100 when the warnings are given. */
  spentPercent: number;
  /** When the budget begins anew. */
  endsAt: Date;
};

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

  /** As it is now in the database and here, for people to look at. */
  async uses(id: string): Promise<SharedBudgetUse[]> {
    const { budgets, spending, now } = this.#options;
    const ledger = await spending.look(id);
    return budgets.map(({ period, amount: budget }) => {
      const { amount: spent, endsAt } = ledger.in(period, now());
      return {
        period,
        ...{ budgetUsd: toUsd(budget), spentUsd: toUsd(spent) },
        // There is no part of a budget that was rounded to nothing.
        spentPercent: budget === 0 ? 100 : Math.floor((spent * 100) / budget),
        endsAt: new Date(endsAt),
      };
    });
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
