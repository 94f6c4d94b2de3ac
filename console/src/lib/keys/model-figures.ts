import { formatCompact, formatExactDollars } from "#lib/format/numbers.ts";
import type { ModelChoice } from "./model-groups.ts";

/** Returns text such as "200K context · $3.00 in, $15.00 out". Prices are per million tokens. */
export function describeModel({ contextWindow, prices }: Omit<ModelChoice, "slug">): string {
  const cost = [
    prices.input !== null && `${formatExactDollars(prices.input)} in`,
    prices.output !== null && `${formatExactDollars(prices.output)} out`,
  ].filter((part) => part !== false);
  return [contextWindow !== null && `${formatCompact(contextWindow)} context`, cost.join(", ") || "unpriced"]
    .filter(Boolean)
    .join(" · ");
}
