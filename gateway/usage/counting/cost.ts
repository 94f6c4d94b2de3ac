import type { ModelRow } from "../../../db/entities/model.ts";
import type { UsageRecordRow } from "../../../db/entities/usage-record.ts";
import type { TokenUsage } from "../../wire/chat-completion.ts";

export type Prices = Pick<ModelRow, "inputPrice" | "cachedInputPrice" | "cacheWritePrice" | "outputPrice">;

/**
 * The cost of a request in nano-dollars. Null when a count or its price is unknown. Free models cost 0, whatever the
 * counts. Prices are nano-dollars per million tokens. Cached tokens are part of the input and cost the input price
 * without their own. Reasoning tokens are part of the output.
 */
export function costOf(prices: Prices, usage: TokenUsage | null): number | null {
  if (isFree(prices)) return 0;
  if (usage === null || usage.inputTokens === null || usage.outputTokens === null) return null;
  const { inputPrice, cachedInputPrice, cacheWritePrice, outputPrice } = prices;
  // Embeddings have no output, and no price for it.
  if (inputPrice === null || (outputPrice === null && usage.outputTokens > 0)) return null;
  const cachedTokens = Math.min(usage.cachedInputTokens ?? 0, usage.inputTokens);
  const writtenTokens = Math.min(usage.cacheWriteInputTokens ?? 0, usage.inputTokens - cachedTokens);
  // BigInt, because tokens times price can exceed 2^53.
  const total =
    BigInt(usage.inputTokens - cachedTokens - writtenTokens) * BigInt(inputPrice) +
    BigInt(cachedTokens) * BigInt(cachedInputPrice ?? inputPrice) +
    BigInt(writtenTokens) * BigInt(cacheWritePrice ?? inputPrice) +
    BigInt(usage.outputTokens) * BigInt(outputPrice ?? 0);
  return Number((total + tokensPerPrice / 2n) / tokensPerPrice);
}

/** Tokens without their own price cost the input price. */
function isFree({ inputPrice, cachedInputPrice, cacheWritePrice, outputPrice }: Prices): boolean {
  return inputPrice === 0 && outputPrice === 0 && !cachedInputPrice && !cacheWritePrice;
}

const tokensPerPrice = 1_000_000n;

/**
 * The cost for the usage record, with its prices.
 * @param prices null where no provider received the request: it costs nothing
 */
export function toCost(prices: Prices | null, usage: TokenUsage | null): Prices & { cost: number | null } {
  if (prices === null) return { cost: 0, ...noPrices };
  const { inputPrice, cachedInputPrice, cacheWritePrice, outputPrice } = prices;
  return { cost: costOf(prices, usage), inputPrice, cachedInputPrice, cacheWritePrice, outputPrice };
}

/** Whether no provider received the request: no other record has a cost without prices and counts. */
export function isUnsent({ cost, inputPrice, inputTokens }: UsageRecordRow): boolean {
  return cost === 0 && inputPrice === null && inputTokens === null;
}

const noPrices = {
  inputPrice: null,
  cachedInputPrice: null,
  cacheWritePrice: null,
  outputPrice: null,
};
