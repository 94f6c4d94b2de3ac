import type { ConditionalPrice, ModelInfo, ModelPrice } from "@pydantic/genai-prices";
import type { Prices } from "./prices.ts";

/** What the model costs on a day, and in words what one price cannot say. */
export function currentPrices({ prices }: ModelInfo, now: Date): { prices: Prices; note: string | null } {
  const current = Array.isArray(prices) ? pricesOfDay(prices, now) : [prices];
  const dearest = current.reduce((one, other) =>
    (baseOf(other, "input_mtok") ?? 0) > (baseOf(one, "input_mtok") ?? 0) ? other : one,
  );
  return {
    prices: {
      input: baseOf(dearest, "input_mtok"),
      cachedInput: baseOf(dearest, "cache_read_mtok"),
      cacheWrite: baseOf(dearest, "cache_write_mtok"),
      output: baseOf(dearest, "output_mtok"),
    },
    note: describe(dearest, current.length > 1),
  };
}

/** Those that apply at some hour of the day: later ones replace earlier ones, but for those that count at certain hours only. */
function pricesOfDay(prices: ConditionalPrice[], now: Date): ModelPrice[] {
  const always = prices.findLastIndex(
    ({ constraint }) =>
      constraint === undefined ||
      (constraint.type === "start_date" && new Date(constraint.start_date) <= now),
  );
  const first = Math.max(always, 0);
  return prices
    .slice(first)
    .filter(({ constraint }, index) => index === 0 || constraint?.type === "time_of_date")
    .map((conditional) => conditional.prices);
}

/** The price of a short prompt, where long ones cost more. */
function baseOf(price: ModelPrice, key: string): number | null {
  const value = price[key];
  return (typeof value === "object" ? value.base : value) ?? null;
}

function describe(price: ModelPrice, dependsOnHour: boolean): string | null {
  const input = price["input_mtok"];
  const firstTier = typeof input === "object" ? input.tiers[0] : undefined;
  // The next price begins after so many tokens; 271999 is the package's way to say "from 272000 on".
  const thousands = firstTier && Math.round(firstTier.start / 1000);
  if (thousands) return `Prompts beyond ${thousands},000 tokens cost more.`;
  return dependsOnHour ? "It is cheaper at some hours; these are the prices of the others." : null;
}
