import type { LimitHolder } from "../../errors.ts";
import type { Budget } from "../key-limits.ts";
import type { Blocking } from "../rates/waiting-room.ts";
import { budgetReserved } from "./budget-errors.ts";
import type { Ledger } from "./ledger.ts";

/**
 * The probable costs of requests in flight, in nano-dollars, by the ID of the budget's holder. They are in memory
 * only, so that a restart has none.
 */
export class Reservations {
  readonly #sums = new Map<string, number>();

  /** The number of holders with a reservation. */
  get size(): number {
    return this.#sums.size;
  }

  of(id: string): number {
    return this.#sums.get(id) ?? 0;
  }

  /** Finds the first budget without room for the cost beside other reservations. */
  findBlocking(holders: readonly BudgetedHolder[], { cost, now, mustWait }: Wanted): Blocking | null {
    for (const { id, holder, budgets, ledger } of holders) {
      const reserved = this.of(id);
      if (!ledger || reserved === 0) continue;
      const line = budgetLine(id);
      const isLate = mustWait(line);
      for (const budget of budgets) {
        const { amount } = ledger.in(budget.period, now);
        if (isLate || amount + reserved + cost > budget.amount) {
          return { line, refusal: () => budgetReserved(holder, budget) };
        }
      }
    }
    return null;
  }

  /** Returns a function that ends the reservation. Its further calls have no effect. */
  add(ids: readonly string[], cost: number): () => void {
    for (const id of ids) this.#sums.set(id, this.of(id) + cost);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      for (const id of ids) {
        const left = this.of(id) - cost;
        if (left > 0) this.#sums.set(id, left);
        else this.#sums.delete(id);
      }
    };
  }
}

export type BudgetedHolder = {
  holder: LimitHolder;
  id: string;
  budgets: readonly Budget[];
  ledger: Ledger | undefined;
};

/** `mustWait` returns whether others already wait in a line. */
type Wanted = { cost: number; now: number; mustWait: (line: string) => boolean };

/** The name of the line in which requests wait for a holder's budgets. */
export const budgetLine = (id: string): string => `budget ${id}`;
