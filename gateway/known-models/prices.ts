import type { ModelRow } from "../../db/entities/model.ts";

/** US dollars per million tokens. An unknown price is null, never 0. */
export type Prices = {
  input: number | null;
  cachedInput: number | null;
  cacheWrite: number | null;
  output: number | null;
};

type PriceColumns = Pick<ModelRow, "inputPrice" | "cachedInputPrice" | "cacheWritePrice" | "outputPrice">;

/** Prices are stored as integers, in nano-dollars per million tokens: $0.15 is 150,000,000. */
export function toPriceColumns(prices: Prices): PriceColumns {
  return {
    inputPrice: toNano(prices.input),
    cachedInputPrice: toNano(prices.cachedInput),
    cacheWritePrice: toNano(prices.cacheWrite),
    outputPrice: toNano(prices.output),
  };
}

export function fromPriceColumns(columns: PriceColumns): Prices {
  return {
    input: fromNano(columns.inputPrice),
    cachedInput: fromNano(columns.cachedInputPrice),
    cacheWrite: fromNano(columns.cacheWritePrice),
    output: fromNano(columns.outputPrice),
  };
}

export const unknownPrices: Prices = { input: null, cachedInput: null, cacheWrite: null, output: null };

/** Null is a given value, undefined is not. */
export function withGiven(prices: Prices, given: Partial<Prices> = {}): Prices {
  const priced = Object.entries(given).filter(([, price]) => price !== undefined);
  return { ...prices, ...Object.fromEntries(priced) };
}

const nanoPerDollar = 1e9;

function toNano(dollars: number | null): number | null {
  return dollars === null ? null : Math.round(dollars * nanoPerDollar);
}

function fromNano(nanoDollars: number | null): number | null {
  return nanoDollars === null ? null : nanoDollars / nanoPerDollar;
}
