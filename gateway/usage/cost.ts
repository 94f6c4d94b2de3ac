import type { ModelRow } from "../../db/entities/model.ts";
import type { TokenUsage } from "../wire/chat-completion.ts";

type PriceColumns = Pick<ModelRow, "inputPrice" | "cachedInputPrice" | "outputPrice">;

/**
 * What a completion cost, in nano-dollars; null when a count or the price of a counted token is unknown. Prices are
 * nano-dollars per million tokens. Cached tokens are part of the input, and cost what input costs where they have no price
 * of their own; reasoning tokens are part of the output.
 */
export function costOf(prices: PriceColumns, usage: TokenUsage | null): number | null {
  if (usage === null || usage.inputTokens === null || usage.outputTokens === null) return null;
  if (prices.inputPrice === null || prices.outputPrice === null) return null;
  const cachedTokens = Math.min(usage.cachedInputTokens ?? 0, usage.inputTokens);
  // Integers throughout: a product of tokens and price can pass 2^53.
  const total =
    BigInt(usage.inputTokens - cachedTokens) * BigInt(prices.inputPrice) +
    BigInt(cachedTokens) * BigInt(prices.cachedInputPrice ?? prices.inputPrice) +
    BigInt(usage.outputTokens) * BigInt(prices.outputPrice);
  return Number((total + tokensPerPrice / 2n) / tokensPerPrice);
}

const tokensPerPrice = 1_000_000n;
