/** The parts of a request with a price of their own. Web searches and requests are counted, all others are tokens. */
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

/** Nano-dollars per million. Null is unknown; a missing one follows the rules of `usage/README.md`. */
export type ComponentPrices = Partial<Record<PriceComponent, number | null>>;

/** A model's prices beyond its four columns, and the conditions under which others apply. */
export type PriceDetails = { prices: ComponentPrices; rules: PriceRule[] };

/** Rules apply in order. Later prices replace earlier ones, and factors multiply the result. */
export type PriceRule = {
  when: PriceCondition;
  prices?: ComponentPrices | undefined;
  /** Multiplies the prices of tokens. At most four decimals. */
  factor?: number | undefined;
  /** With `inputTokensAbove`: these prices apply to the part of the prompt above it, not to the whole request. */
  part?: "above" | undefined;
};

/** Every given member must hold. Times are those of the request. */
export type PriceCondition = {
  /** The prompt has more tokens than this. */
  inputTokensAbove?: number | undefined;
  /** As the response reports it: `flex`, `priority`, `batch`. */
  serviceTier?: string | undefined;
  /** As the response reports it: `fast`. */
  speed?: string | undefined;
  /** Where the model ran, as the response reports it: `us`. */
  region?: string | undefined;
  /** From this moment on, in ISO 8601. */
  from?: string | undefined;
  /** Before this moment, in ISO 8601. */
  before?: string | undefined;
  /** Hours of the day in UTC, from the first and before the second: `01:00`, `04:00`. */
  hours?: { from: string; to: string } | undefined;
};

/** A part of a cost. The amounts of all lines add up to the cost at these prices. */
export type CostLine = {
  component: PriceComponent;
  quantity: number;
  /** Nano-dollars per million. Null is unknown. */
  price: number | null;
  /** Nano-dollars. Null where the price is unknown. */
  amount: number | null;
  /** The conditions that set the price, such as `input above 200000`. Missing for the usual price. */
  when?: string;
};

/** Explains a cost that the price and token columns of the usage record do not explain alone. */
export type CostDetails = {
  /** The counts and terms of the response beyond the columns: `UsageDetails`. */
  usage?: Readonly<Record<string, string | number>>;
  lines: CostLine[];
  /** The cost is the provider's own figure, not the sum of the lines. */
  source?: "provider";
  /** The factor of the charge. Missing for 1. */
  factor?: number;
  /** Nano-dollars that an unknown cost is at least: the known parts at the usual price. Budgets count them. */
  least?: number;
};
