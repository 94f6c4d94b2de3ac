import { GatewayError, type LimitHolder, type LimitReason } from "../../errors.ts";
import { type Budget, type BudgetPeriod, holderNames, toUsd } from "../key-limits.ts";

export function isLoading(holder: LimitHolder): GatewayError {
  const message = `Budget data for ${holderNames[holder]} is loading. Retry in a moment.`;
  return new GatewayError("service_unavailable", message, { retryAfterSeconds: 1 });
}

export function budgetSpent(holder: LimitHolder, budget: Budget, endsAt: number): GatewayError {
  const advice =
    budget.period === "total"
      ? "Ask the administrator for a higher budget."
      : `Retry after ${formatDay(endsAt)} 00:00 UTC, or ask the administrator for a higher budget.`;
  const message = `The budget for ${holderNames[holder]} is exceeded: ${describe(budget)}. ${advice}`;
  return new GatewayError("insufficient_quota", message, {
    limitedBy: holder,
    reason: reasons[budget.period],
  });
}

/**
 * The response to a request that waited without success. Clients take 402 as final, but requests in flight usually
 * return a part of what they reserve.
 */
export function budgetReserved(holder: LimitHolder, budget: Budget): GatewayError {
  const message = `Requests in progress hold the rest of the budget for ${holderNames[holder]}: ${describe(budget)}. Retry in ${reservedRetrySeconds} s, when some of them have finished.`;
  const details = { limitedBy: holder, reason: reasons[budget.period] };
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
