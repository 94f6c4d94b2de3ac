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
  return refusalOf(holder, budget, message);
}

/** The response to a request that waited without success: requests in flight may spend the rest. */
export function budgetReserved(holder: LimitHolder, budget: Budget, endsAt: number): GatewayError {
  const reset = budget.period === "total" ? "" : ` The budget resets on ${formatDay(endsAt)} 00:00 UTC.`;
  const message = `The rest of the budget for ${holderNames[holder]} is reserved for requests in progress: ${describe(budget)}. Retry when they have finished.${reset}`;
  return refusalOf(holder, budget, message);
}

function refusalOf(holder: LimitHolder, { period }: Budget, message: string): GatewayError {
  return new GatewayError("insufficient_quota", message, { limitedBy: holder, reason: reasons[period] });
}

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
