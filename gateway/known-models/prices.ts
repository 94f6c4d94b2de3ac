import {
  type ComponentPrices,
  type PriceComponent,
  priceComponents,
  type PriceRule,
} from "../../db/entities/price-details.ts";
import type { ModelRow } from "../../db/entities/model.ts";

/**
 * US dollars per million tokens, or per thousand searches or requests. Null means unknown, and 0 means free.
 * Only the first four prices are always present.
 */
export type Prices = {
  input: number | null;
  cachedInput: number | null;
  cacheWrite: number | null;
  output: number | null;
} & { [Name in DetailedComponent]?: number | null } & {
  rules?: PriceRule[];
};

export const detailedComponents = priceComponents.filter(
  (name): name is DetailedComponent => !["input", "cachedInput", "cacheWrite", "output"].includes(name),
);

export type DetailedComponent = Exclude<PriceComponent, "input" | "cachedInput" | "cacheWrite" | "output">;

type PriceColumns = Pick<
  ModelRow,
  "inputPrice" | "cachedInputPrice" | "cacheWritePrice" | "outputPrice" | "priceDetails"
>;

/** Prices are stored as integers, in nano-dollars per million: $0.15 is 150,000,000. */
export function toPriceColumns(prices: Prices): PriceColumns {
  const known = detailedComponents.flatMap((name) => {
    const price = toNano(name, prices[name] ?? null);
    return price === null ? [] : [[name, price] as const];
  });
  return {
    inputPrice: toNano("input", prices.input),
    cachedInputPrice: toNano("cachedInput", prices.cachedInput),
    cacheWritePrice: toNano("cacheWrite", prices.cacheWrite),
    outputPrice: toNano("output", prices.output),
    priceDetails: {
      prices: Object.fromEntries(known),
      rules: (prices.rules ?? []).map((rule) => convertRule(rule, toNano)),
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
