import {
  type ComponentPrices,
  type PriceComponent,
  priceComponents,
  type PriceRule,
} from "../../db/entities/price-details.ts";
import type { ModelRow } from "../../db/entities/model.ts";

type UsualComponent = "input" | "cachedInput" | "cacheWrite" | "output";

/** US dollars per million tokens, or per thousand searches or requests. Null means unknown, and 0 means free. */
export type Prices = Record<UsualComponent, number | null> & ComponentPrices & { rules?: PriceRule[] };

type PriceColumns = Pick<
  ModelRow,
  "inputPrice" | "cachedInputPrice" | "cacheWritePrice" | "outputPrice" | "priceDetails"
>;

/** Prices are stored as integers, in nano-dollars per million: $0.15 is 150,000,000. */
export function toPriceColumns(prices: Prices): PriceColumns {
  const { input, cachedInput, cacheWrite, output, rules = [], ...details } = prices;
  const known = Object.entries(convertAll(details, toNano)).filter(([, price]) => price !== null);
  return {
    inputPrice: toNano("input", input),
    cachedInputPrice: toNano("cachedInput", cachedInput),
    cacheWritePrice: toNano("cacheWrite", cacheWrite),
    outputPrice: toNano("output", output),
    priceDetails: {
      prices: Object.fromEntries(known),
      rules: rules.map((rule) => convertRule(rule, toNano)),
    },
  };
}

export function fromPriceColumns({ priceDetails, ...columns }: PriceColumns): Prices {
  const rules = (priceDetails?.rules ?? []).map((rule) => convertRule(rule, fromNano));
  return {
    input: fromNano("input", columns.inputPrice),
    cachedInput: fromNano("cachedInput", columns.cachedInputPrice),
    cacheWrite: fromNano("cacheWrite", columns.cacheWritePrice),
    output: fromNano("output", columns.outputPrice),
    ...convertAll(priceDetails?.prices ?? {}, fromNano),
    ...(rules.length > 0 && { rules }),
  };
}

export const unknownPrices: Prices = { input: null, cachedInput: null, cacheWrite: null, output: null };

/** A null in `given` replaces the price. Undefined keeps it. */
export function withGiven(prices: Prices, given: Partial<Prices> = {}): Prices {
  const priced = Object.entries(given).filter(([, price]) => price !== undefined);
  return { ...prices, ...Object.fromEntries(priced) };
}

type Conversion = (name: PriceComponent, price: number | null) => number | null;

function convertRule(rule: PriceRule, convert: Conversion): PriceRule {
  return { ...rule, ...(rule.prices && { prices: convertAll(rule.prices, convert) }) };
}

function convertAll(prices: ComponentPrices, convert: Conversion): ComponentPrices {
  return Object.fromEntries(
    priceComponents.flatMap((name) => {
      const price = prices[name];
      return price === undefined ? [] : [[name, convert(name, price)]];
    }),
  );
}

function toNano(name: PriceComponent, dollars: number | null): number | null {
  return dollars === null ? null : Math.round(dollars * nanoPerDollarOf(name));
}

function fromNano(name: PriceComponent, nanoDollars: number | null): number | null {
  return nanoDollars === null ? null : nanoDollars / nanoPerDollarOf(name);
}

function nanoPerDollarOf(name: PriceComponent): number {
  return name === "webSearch" || name === "request" ? 1e12 : 1e9;
}
