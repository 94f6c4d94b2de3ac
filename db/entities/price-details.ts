/**
 * The parts of a request that can have their own prices. Quantities are tokens, except for `webSearch` and
 * `request`.
 */
export const priceComponents = [
  "input",
  "cachedInput",
  "cacheWrite",
  "cacheWrite1h",
  "imageInput",
  "cachedImageInput",
  "audioInput",
  "cachedAudioInput",
  "output",
  "reasoning",
  "imageOutput",
  "audioOutput",
  "webSearch",
  "request",
] as const;

export type PriceComponent = (typeof priceComponents)[number];

/** Nano-dollars per million. Null is unknown. A missing price follows the rules of `gateway/usage/README.md`. */
export type ComponentPrices = Partial<Record<PriceComponent, number | null>>;

/** The prices of a model that have no column of their own, and rules that change prices. */
export type PriceDetails = { prices: ComponentPrices; rules: PriceRule[] };

/** Rules apply in order. Later prices replace earlier prices, and factors multiply the result. */
export type PriceRule = {
  when: PriceCondition;
  prices?: ComponentPrices | undefined;
  /** Multiplies the prices of tokens. At most four decimals. */
  factor?: number | undefined;
  /** `above` applies the rule only to the input tokens above `inputTokensAbove`. */
  part?: "above" | undefined;
};

/** Every given member must match. `from`, `before` and `hours` apply to the time of the request. */
export type PriceCondition = {
  inputTokensAbove?: number | undefined;
  /** The tier that the response reports, such as `flex` or `priority`. */
  serviceTier?: string | undefined;
  /** The speed that the response reports, such as `fast`. */
  speed?: string | undefined;
  /** The region that the response reports, such as `us`. */
  region?: string | undefined;
  /** The inclusive start, in ISO 8601. */
  from?: string | undefined;
  /** The exclusive end, in ISO 8601. */
  before?: string | undefined;
  /** Hours of the day in UTC, such as `01:00` to `04:00`. The end is exclusive. */
  hours?: { from: string; to: string } | undefined;
};

/** A part of the cost at the model's prices. */
export type CostLine = {
  component: PriceComponent;
  quantity: number;
  /** Nano-dollars per million. Null if unknown. */
  price: number | null;
  /** Nano-dollars. Null if the price is unknown. */
  amount: number | null;
  /** The conditions of the rules that set the price, such as `input above 200000`. Missing if no rule applies. */
  when?: string;
};

/** Explains a cost that the price and token columns of the usage record do not explain alone. */
export type CostDetails = {
  /** Counts and terms of the response that have no column: `UsageDetails`. */
  usage?: Readonly<Record<string, string | number>>;
  lines: CostLine[];
  /** Set if the provider's reported cost replaces the sum of the lines. */
  source?: "provider";
  /** The product of the charge factors of the provider and the key. Missing if it is 1. */
  factor?: number;
  /** The minimum cost of an unpriced request, in nano-dollars, for budgets. Missing if it is 0. */
  least?: number;
};
