import type {
  ComponentPrices,
  PriceComponent,
  PriceCondition,
  PriceDetails,
  PriceRule,
} from "../../../db/entities/price-details.ts";
import type { UsageDetails } from "../../wire/token-usage.ts";

export type PriceFacts = { inputTokens: number; terms: UsageDetails | undefined; at: Date };

export class PriceSheet {
  readonly #prices: ComponentPrices;
  readonly #rules: readonly PriceRule[];

  /** @param rules the matching rules, in order */
  constructor(base: ComponentPrices, rules: readonly PriceRule[]) {
    this.#prices = Object.assign({}, base, ...rules.map(({ prices }) => prices));
    this.#rules = rules;
  }

  /** The price of a component, or of its substitute. Null if both are unknown. */
  priceOf(component: PriceComponent): SheetPrice {
    const own = this.#prices[component];
    if (own !== null && own !== undefined) return this.#multiplied(component, own);
    const substitute = substitutes[component];
    if (!substitute) return { component, price: null };
    const found = this.priceOf(substitute.instead);
    if (substitute.times === 1) return found;
    return { ...found, component, price: found.price === null ? null : found.price * substitute.times };
  }

  #multiplied(component: PriceComponent, price: number): SheetPrice {
    let [numerator, denominator] = [BigInt(price), 1n];
    const conditions: string[] = [];
    for (const { when, prices, factor } of this.#rules) {
      if (factor !== undefined && !isCounted(component)) {
        numerator *= BigInt(Math.round(factor * 10_000));
        denominator *= 10_000n;
        conditions.push(`${describeCondition(when)} × ${factor}`);
      } else if (prices && component in prices) conditions.push(describeCondition(when));
    }
    const rounded = Number((numerator + denominator / 2n) / denominator);
    return { component, price: rounded, ...(conditions.length > 0 && { when: conditions.join(", ") }) };
  }
}

/** `component` is the component whose price applies, which can be a substitute. */
export type SheetPrice = { component: PriceComponent; price: number | null; when?: string };

/**
 * A component without a price has its substitute's price, multiplied by `times`, as on vendors' bills. Uncached audio,
 * generated images and searches have no substitute, because vendors price them separately.
 */
const substitutes: Partial<Record<PriceComponent, { instead: PriceComponent; times: number }>> = {
  cachedInput: { instead: "input", times: 1 },
  cacheWrite: { instead: "input", times: 1 },
  // https://platform.claude.com/docs/en/build-with-claude/prompt-caching#pricing
  cacheWrite1h: { instead: "input", times: 2 },
  imageInput: { instead: "input", times: 1 },
  cachedImageInput: { instead: "cachedInput", times: 1 },
  cachedAudioInput: { instead: "audioInput", times: 1 },
  reasoning: { instead: "output", times: 1 },
};

function isCounted(component: PriceComponent): boolean {
  return component === "webSearch" || component === "request";
}

export function matchingRules({ rules }: PriceDetails, facts: PriceFacts): PriceRule[] {
  return rules.filter(({ when }) => holds(when, facts));
}

function holds(when: PriceCondition, { inputTokens, terms, at }: PriceFacts): boolean {
  if (when.inputTokensAbove !== undefined && inputTokens <= when.inputTokensAbove) return false;
  if (when.serviceTier !== undefined && when.serviceTier !== terms?.serviceTier) return false;
  if (when.speed !== undefined && when.speed !== terms?.speed) return false;
  if (when.region !== undefined && when.region !== terms?.region) return false;
  if (when.from !== undefined && at.getTime() < Date.parse(when.from)) return false;
  if (when.before !== undefined && at.getTime() >= Date.parse(when.before)) return false;
  return when.hours === undefined || isWithin(when.hours, at.toISOString().slice(11, 16));
}

/** The range may span midnight. */
function isWithin({ from, to }: { from: string; to: string }, time: string): boolean {
  return from <= to ? from <= time && time < to : from <= time || time < to;
}

/**
 * Whether the response reports premium terms that no rule of the model covers. Other terms cost the usual
 * price, which is an upper bound for `flex` and `batch`.
 */
export function hasUnknownTerms(details: PriceDetails | null, terms: UsageDetails | undefined): boolean {
  if (!terms) return false;
  const isPriced = (name: "serviceTier" | "speed") =>
    details?.rules.some(({ when }) => when[name] === terms[name]) ?? false;
  return (
    (premiumTiers.has(terms.serviceTier ?? "") && !isPriced("serviceTier")) ||
    (premiumSpeeds.has(terms.speed ?? "") && !isPriced("speed"))
  );
}

const premiumTiers = new Set(["priority", "ultrafast"]);
const premiumSpeeds = new Set(["fast", "optimized"]);

function describeCondition(when: PriceCondition): string {
  const { inputTokensAbove, serviceTier, speed, region, from, before, hours } = when;
  return [
    inputTokensAbove === undefined ? [] : `input above ${inputTokensAbove}`,
    serviceTier ?? [],
    speed ?? [],
    region ?? [],
    from === undefined ? [] : `from ${from}`,
    before === undefined ? [] : `before ${before}`,
    hours === undefined ? [] : `${hours.from}–${hours.to} UTC`,
  ]
    .flat()
    .join(" ");
}
