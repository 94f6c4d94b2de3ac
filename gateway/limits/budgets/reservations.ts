import type { BudgetPeriod } from "../../../db/entities/limits.ts";
import { GatewayError, type LimitReason } from "../../errors.ts";
import type { Holder } from "../holders.ts";
import { type Budget, toUsd } from "../limit-table.ts";
import type { Blocking } from "../rates/waiting-room.ts";
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
  holder: Holder;
  id: string;
  budgets: readonly Budget[];
  ledger: Ledger | undefined;
};

/** `mustWait` returns whether others already wait in a line. */
type Wanted = { cost: number; now: number; mustWait: (line: string) => boolean };

/** The name of the line in which requests wait for a holder's budgets. */
export const budgetLine = (id: string): string => `budget ${id}`;

export function isLoading({ words }: Holder): GatewayError {
  const message = `Budget data for ${words} is loading. Retry in a moment.`;
  return new GatewayError("service_unavailable", message, { retryAfterSeconds: 1 });
}

export function budgetSpent({ kind, words }: Holder, budget: Budget, endsAt: number): GatewayError {
  const advice =
    budget.period === "total"
      ? "Ask the administrator for a higher budget."
      : `Retry after ${formatDay(endsAt)} 00:00 UTC, or ask the administrator for a higher budget.`;
  const message = `The budget for ${words} is exceeded: ${describe(budget)}. ${advice}`;
  return new GatewayError("insufficient_quota", message, {
    limitedBy: kind,
    reason: reasons[budget.period],
  });
}

/**
 * The response to a request that waited without success. Clients take 402 as final, but requests in flight usually
 * return a part of what they reserve.
 */
function budgetReserved({ kind, words }: Holder, budget: Budget): GatewayError {
  const message = `Requests in progress hold the rest of the budget for ${words}: ${describe(budget)}. Retry in ${reservedRetrySeconds} s, when some of them have finished.`;
  const details = { limitedBy: kind, reason: reasons[budget.period] };
  return new GatewayError("rate_limit_exceeded", message, {
    ...details,
    retryAfterSeconds: reservedRetrySeconds,
  });
}

const reservedRetrySeconds = 5;

function formatDay(endsAt: number): string {
  return new Date(endsAt).toISOString().slice(0, 10);
}

function describe({ period, amount }: Budget): string {
  const usd = toUsd(amount).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 9 });
  return `$${usd} ${period === "total" ? "in total" : `per ${period}`}`;
}

const reasons: Record<BudgetPeriod, LimitReason> = {
  day: "budget_per_day",
  week: "budget_per_week",
  month: "budget_per_month",
  total: "budget_total",
};
