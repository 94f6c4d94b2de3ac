import type { ModelRow } from "../../../db/entities/model.ts";
import type { UsageRecordRow } from "../../../db/entities/usage-record.ts";
import type { TokenUsage } from "../../wire/chat-completion.ts";

export type Prices = Pick<ModelRow, "inputPrice" | "cachedInputPrice" | "cacheWritePrice" | "outputPrice">;

/**
 * What a completion cost, in nano-dollars; null when a count or the price of a counted token is unknown. What is free costs
 * nothing, however much it was. Prices are nano-dollars per million tokens. Tokens that were cached, or written to a cache,
 * are part of the input, and cost what input costs where they have no price of their own; reasoning tokens are part of the
 * output.
 */
export function costOf(prices: Prices, usage: TokenUsage | null): number | null {
  if (isFree(prices)) return 0;
  if (usage === null || usage.inputTokens === null || usage.outputTokens === null) return null;
  const { inputPrice, cachedInputPrice, cacheWritePrice, outputPrice } = prices;
  // Embeddings have no output, and no price for it.
  if (inputPrice === null || (outputPrice === null && usage.outputTokens > 0)) return null;
  const cachedTokens = Math.min(usage.cachedInputTokens ?? 0, usage.inputTokens);
  const writtenTokens = Math.min(usage.cacheWriteInputTokens ?? 0, usage.inputTokens - cachedTokens);
  // Integers throughout: a product of tokens and price can pass 2^53.
  const total =
    BigInt(usage.inputTokens - cachedTokens - writtenTokens) * BigInt(inputPrice) +
    BigInt(cachedTokens) * BigInt(cachedInputPrice ?? inputPrice) +
    BigInt(writtenTokens) * BigInt(cacheWritePrice ?? inputPrice) +
    BigInt(usage.outputTokens) * BigInt(outputPrice ?? 0);
  return Number((total + tokensPerPrice / 2n) / tokensPerPrice);
}

/** What has no price of its own costs what input costs. */
function isFree({ inputPrice, cachedInputPrice, cacheWritePrice, outputPrice }: Prices): boolean {
  return inputPrice === 0 && outputPrice === 0 && !cachedInputPrice && !cacheWritePrice;
}

const tokensPerPrice = 1_000_000n;

/**
 * The cost as usage records have it, with the prices that made it.
 * @param prices null where no provider got anything of the request: that costs nothing, whatever prices are
 */
export function toCost(prices: Prices | null, usage: TokenUsage | null): Prices & { cost: number | null } {
  if (prices === null) return { cost: 0, ...noPrices };
  const { inputPrice, cachedInputPrice, cacheWritePrice, outputPrice } = prices;
  return { cost: costOf(prices, usage), inputPrice, cachedInputPrice, cacheWritePrice, outputPrice };
}

/** Whether no provider got anything of the request: without prices and counts nothing else is known to cost nothing. */
export function isUnsent({ cost, inputPrice, inputTokens }: UsageRecordRow): boolean {
  return cost === 0 && inputPrice === null && inputTokens === null;
}

const noPrices = {
  inputPrice: null,
  cachedInputPrice: null,
  cacheWritePrice: null,
  outputPrice: null,
};
