import { type Prices, toCost } from "../../usage/counting/cost.ts";
import type { Usual } from "./usual-use.ts";

/** The known properties of a request before its answer. */
export type Demand = Readonly<{
  prices: Prices;
  inputTokens: number;
  /** The maximum that the client allows. Null without a maximum. */
  outputTokensMax: number | null;
}>;

/** The probable cost in nano-dollars, counted as budgets count it. 0 for an unpriced model. */
export function estimateCost({ prices, inputTokens }: Demand, usual: Usual, now: number): number {
  const usage = {
    inputTokens,
    outputTokens: usual.outputTokens,
    cachedInputTokens: Math.round(inputTokens * usual.cachedShare),
    cacheWriteInputTokens: null,
    reasoningTokens: null,
  };
  const billing = { costSource: null, chargeFactor: 1, at: new Date(now) };
  const { cost, costDetails } = toCost(prices, usage, billing);
  return cost ?? costDetails?.least ?? 0;
}
