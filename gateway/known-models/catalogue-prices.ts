import type { ConditionalPrice, ModelInfo, ModelPrice } from "@pydantic/genai-prices";
import type {
  ComponentPrices,
  PriceComponent,
  PriceCondition,
  PriceRule,
} from "../../db/entities/price-details.ts";
import type { Prices } from "./prices.ts";

/** The current and future prices of one of the package's models, with their conditions. */
export function cataloguePrices({ prices }: ModelInfo, now: Date): Prices {
  const [current, ...later] = Array.isArray(prices) ? pricesFrom(prices, now) : [{ prices }];
  const base = toPrices(current?.prices ?? {});
  const rules = [
    ...tierRules(current?.prices ?? {}, {}),
    ...later.flatMap(({ constraint, prices: each }) => {
      const when = toCondition(constraint);
      // Without these nulls, current prices would also apply to components that the entry lacks.
      const ended = Object.fromEntries(Object.keys(base).map((name) => [name, null]));
      return [{ when, prices: { ...ended, ...toPrices(each) } }, ...tierRules(each, when)];
    }),
  ];
  const { input = null, cachedInput = null, cacheWrite = null, output = null, ...details } = base;
  return { input, cachedInput, cacheWrite, output, ...details, ...(rules.length > 0 && { rules }) };
}

export function describePrices({ rules = [] }: Prices): string | null {
  const tier = rules.find(({ when }) => when.inputTokensAbove !== undefined)?.when.inputTokensAbove;
  if (tier !== undefined) return `Prompts above ${tier.toLocaleString("en-US")} tokens cost more.`;
  if (rules.some(({ when }) => when.hours)) return "Peak hours cost more.";
  const change = rules.find(({ when }) => when.from !== undefined)?.when.from;
  return change === undefined ? null : `Prices change on ${change}.`;
}

/** Drops outdated entries. The last entry that has started contains the current prices. */
function pricesFrom(prices: ConditionalPrice[], now: Date): ConditionalPrice[] {
  const current = prices.findLastIndex(
    ({ constraint }) =>
      constraint === undefined ||
      (constraint.type === "start_date" && new Date(constraint.start_date) <= now),
  );
  return prices.slice(Math.max(current, 0));
}

function toCondition(constraint: ConditionalPrice["constraint"]): PriceCondition {
  if (constraint === undefined) return {};
  if (constraint.type === "start_date") return { from: constraint.start_date };
  return { hours: { from: constraint.start_time.slice(0, 5), to: constraint.end_time.slice(0, 5) } };
}

function toPrices(price: ModelPrice): ComponentPrices {
  return pricesBy(price, (value) => (typeof value === "object" ? value.base : value));
}

/** The rules lack `part: "above"`, because vendors bill the whole request at the price of its tier. */
function tierRules(price: ModelPrice, when: PriceCondition): PriceRule[] {
  const starts = Object.values(price).flatMap((value) =>
    typeof value === "object" ? value.tiers.map(({ start }) => start) : [],
  );
  return [...new Set(starts)]
    .toSorted((one, other) => one - other)
    .map((start) => ({
      when: { ...when, inputTokensAbove: thresholdOf(start) },
      prices: pricesBy(price, (value) =>
        typeof value === "object" ? value.tiers.find((tier) => tier.start === start)?.price : undefined,
      ),
    }));
}

/**
 * Some thresholds in the package are one token too low, such as 271999. Vendors write "prompts with >272K
 * input tokens" (https://developers.openai.com/api/docs/models/gpt-5.4) and "exceeds 200K tokens".
 */
function thresholdOf(start: number): number {
  return start % 1000 === 999 ? start + 1 : start;
}

function pricesBy(
  price: ModelPrice,
  read: (value: ModelPrice[string]) => number | undefined,
): ComponentPrices {
  return Object.fromEntries(
    Object.entries(componentKeys).flatMap(([component, key]) => {
      const value = read(price[key]);
      return value === undefined ? [] : [[component, value]];
    }),
  );
}

/** The package's names. Prices under its other names, such as `audio_hours`, are ignored. */
const componentKeys: Record<PriceComponent, string> = {
  input: "input_mtok",
  cachedInput: "cache_read_mtok",
  cacheWrite: "cache_write_mtok",
  cacheWrite1h: "cache_write_1h_mtok",
  imageInput: "input_image_mtok",
  cachedImageInput: "cache_image_read_mtok",
  audioInput: "input_audio_mtok",
  cachedAudioInput: "cache_audio_read_mtok",
  output: "output_mtok",
  reasoning: "output_reasoning_mtok",
  imageOutput: "output_image_mtok",
  audioOutput: "output_audio_mtok",
  webSearch: "web_searches_kcount",
  request: "requests_kcount",
};
