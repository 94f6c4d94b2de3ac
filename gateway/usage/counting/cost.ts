import type { TokenUsage } from "../../wire/token-usage.ts";
import type { ModelRow } from "../../../db/entities/model.ts";
import type {
  ComponentPrices,
  CostLine,
  PriceDetails,
  PriceComponent,
  PriceRule,
} from "../../../db/entities/price-details.ts";
import type { UsageRecordRow } from "../../../db/entities/usage-record.ts";
import { hasUnknownTerms, matchingRules, PriceSheet } from "./price-sheet.ts";

export type Prices = FlatPrices & { priceDetails?: PriceDetails | null };

type FlatPrices = Pick<ModelRow, "inputPrice" | "cachedInputPrice" | "cacheWritePrice" | "outputPrice">;

/** `cost` is in nano-dollars. */
type PricedRequest = { cost: number | null; lines: CostLine[] | null };

/**
 * Rounds the exact cost once. `cost` is null if a necessary count or price is unknown. The rules are in
 * `gateway/usage/README.md`.
 * @param at the time of the request
 */
export function priceRequest(prices: Prices, usage: TokenUsage | null, at: Date): PricedRequest {
  const { priceDetails = null } = prices;
  if (isFree(prices)) return { cost: 0, lines: null };
  if (usage === null || usage.inputTokens === null || usage.outputTokens === null) return unknownCost;
  if (prices.inputPrice === null) return unknownCost;
  const { inputTokens, details: terms } = usage;
  const rules = priceDetails?.rules.length ? matchingRules(priceDetails, { inputTokens, terms, at }) : [];
  const hasOwnPrices =
    priceDetails !== null && ownPrices.some((name) => priceDetails.prices[name] !== undefined);
  if (rules.length === 0 && !hasTerms(terms) && !hasOwnPrices) {
    return { cost: usualCost(prices.inputPrice, prices, usage), lines: null };
  }
  const lines = linesOf(prices, usage, rules);
  const isKnown = lines.every(({ amount }) => amount !== null) && !hasUnknownTerms(priceDetails, terms);
  return { cost: isKnown ? sumOf(lines) : null, lines };
}

function hasTerms(details: TokenUsage["details"]): boolean {
  return details !== undefined && Object.keys(details).some((name) => name !== "providerCost");
}

/** Prices that may apply without usage details. */
const ownPrices = ["reasoning", "request"] as const;

const unknownCost = { cost: null, lines: null };

/** Calculates only the sum, because most requests need no lines. */
function usualCost(
  inputPrice: number,
  { cachedInputPrice, cacheWritePrice, outputPrice }: FlatPrices,
  usage: TokenUsage,
): number | null {
  const [inputTokens, outputTokens] = [usage.inputTokens ?? 0, usage.outputTokens ?? 0];
  const cachedTokens = Math.min(usage.cachedInputTokens ?? 0, inputTokens);
  const writtenTokens = Math.min(usage.cacheWriteInputTokens ?? 0, inputTokens - cachedTokens);
  // Embeddings have no output and need no output price.
  if (outputPrice === null && outputTokens > 0) return null;
  // The total is a BigInt, because tokens times price can exceed 2^53.
  const total =
    BigInt(inputTokens - cachedTokens - writtenTokens) * BigInt(inputPrice) +
    BigInt(cachedTokens) * BigInt(cachedInputPrice ?? inputPrice) +
    BigInt(writtenTokens) * BigInt(cacheWritePrice ?? inputPrice) +
    BigInt(outputTokens) * BigInt(outputPrice ?? 0);
  return Number((total + perPrice / 2n) / perPrice);
}

/** The minimum cost for budgets. Audio and images without a price count as text, other unpriced parts as 0. */
function leastCost(prices: Prices, usage: TokenUsage, at: Date): number {
  const { priceDetails = null, inputPrice: input, outputPrice: output } = prices;
  // Without input and output prices, a model usually has no prices at all.
  if (input === null && output === null && !priceDetails?.rules.length) return 0;
  const rules = matchingRules(priceDetails ?? noDetails, {
    inputTokens: usage.inputTokens ?? 0,
    terms: usage.details,
    at,
  });
  const usual = { audioInput: input, imageOutput: output, audioOutput: output };
  const known = rules.map((rule) => ({ ...rule, prices: withoutUnknown(rule.prices ?? {}) }));
  const sheet = { ...usual, ...withoutUnknown(toComponentPrices(prices)) };
  return sumOf(costLines(usageParts(usage) ?? [], sheet, known));
}

const noDetails: PriceDetails = { prices: {}, rules: [] };

function withoutUnknown(prices: ComponentPrices): ComponentPrices {
  return Object.fromEntries(Object.entries(prices).filter(([, price]) => price !== null));
}

function sumOf(lines: readonly CostLine[]): number {
  return lines.reduce((sum, { amount }) => sum + (amount ?? 0), 0);
}

function linesOf(prices: Prices, usage: TokenUsage, rules: PriceDetails["rules"]): CostLine[] {
  return costLines(usageParts(usage) ?? [], toComponentPrices(prices), rules);
}

function toComponentPrices(prices: Prices): ComponentPrices {
  const { inputPrice, cachedInputPrice, cacheWritePrice, outputPrice, priceDetails } = prices;
  return {
    ...priceDetails?.prices,
    input: inputPrice,
    cachedInput: cachedInputPrice,
    cacheWrite: cacheWritePrice,
    output: outputPrice,
  };
}

/** A missing cache price counts as free: cached tokens then cost the input price of 0. */
function isFree(prices: Prices): boolean {
  return (
    prices.inputPrice === 0 &&
    prices.outputPrice === 0 &&
    !prices.priceDetails?.rules.length &&
    Object.values(toComponentPrices(prices)).every((price) => !price)
  );
}

type CostColumns = FlatPrices & Pick<UsageRecordRow, "cost" | "costDetails" | "providerCost" | "markup">;

type Billing = {
  /** `provider` selects the provider's reported cost, if any. Null selects the calculated cost. */
  costSource: "provider" | null;
  /** The product of the charge factors of the provider and the key. */
  chargeFactor: number;
  /** The time of the request. */
  at: Date;
};

/** @param prices null if no provider processed the request. The cost is then 0. */
export function toCost(prices: Prices | null, usage: TokenUsage | null, billing: Billing): CostColumns {
  if (prices === null) return noCost;
  const { inputPrice, cachedInputPrice, cacheWritePrice, outputPrice } = prices;
  const { costSource, chargeFactor, at } = billing;
  const { cost: ours, lines } = priceRequest(prices, usage, at);
  const { providerCost = null, ...terms } = usage?.details ?? {};
  const isTheirs = costSource === "provider" && providerCost !== null;
  const cost = isTheirs ? providerCost : ours;
  const least = cost === null && usage !== null ? leastCost(prices, usage, at) : 0;
  const hasDetails =
    lines !== null || isTheirs || chargeFactor !== 1 || least > 0 || Object.keys(terms).length > 0;
  return {
    cost,
    inputPrice,
    cachedInputPrice,
    cacheWritePrice,
    outputPrice,
    providerCost,
    costDetails: hasDetails
      ? {
          ...(Object.keys(terms).length > 0 && { usage: terms }),
          lines: lines ?? (usage ? linesOf(prices, usage, []) : []),
          ...(isTheirs && { source: "provider" }),
          ...(chargeFactor !== 1 && { factor: chargeFactor }),
          ...(least > 0 && { least }),
        }
      : null,
    markup: markupOf(cost, chargeFactor),
  };
}

/** The stored lines, or else lines from the record. Empty without the input price or a token count. */
export function linesOfRecord(record: UsageRecordRow): CostLine[] {
  if (record.costDetails) return record.costDetails.lines;
  return record.inputPrice === null ? [] : linesOf(record, record, []);
}

/** The amount that a factor adds to a cost, in nano-dollars. */
function markupOf(cost: number | null, chargeFactor: number): number {
  if (cost === null || chargeFactor === 1) return 0;
  const parts = BigInt(Math.round(chargeFactor * Number(factorParts)));
  return Number((BigInt(cost) * parts + factorParts / 2n) / factorParts) - cost;
}

/** The factor is a product of two factors with four decimals. */
const factorParts = 100_000_000n;

/** Whether no provider processed the request. Other records with a cost have an input price or token count. */
export function isUnsent({ cost, inputPrice, inputTokens }: UsageRecordRow): boolean {
  return cost === 0 && inputPrice === null && inputTokens === null;
}

const noCost: CostColumns = {
  cost: 0,
  inputPrice: null,
  cachedInputPrice: null,
  cacheWritePrice: null,
  outputPrice: null,
  providerCost: null,
  costDetails: null,
  markup: 0,
};

/**
 * Each amount is the difference of two rounded running totals, so the amounts add up to the rounded total.
 * @param rules the matching rules, in order
 */
export function costLines(
  parts: readonly UsagePart[],
  prices: ComponentPrices,
  rules: readonly PriceRule[],
): CostLine[] {
  const lines = new Map<string, CostLine>();
  for (const { component, quantity, sheet } of priced(parts, prices, rules)) {
    const found = sheet.priceOf(component);
    // A missing price per request means free, not unpriced.
    if (component === "request" && found.price === null) continue;
    const key = `${found.component} ${found.price} ${found.when}`;
    const line = lines.get(key);
    if (line) line.quantity += quantity;
    else lines.set(key, { ...found, quantity, amount: null });
  }
  let exact = 0n;
  let total = 0n;
  for (const line of lines.values()) {
    if (line.price === null) continue;
    exact += BigInt(line.quantity) * BigInt(line.price);
    const rounded = (exact + perPrice / 2n) / perPrice;
    line.amount = Number(rounded - total);
    total = rounded;
  }
  return [...lines.values()];
}

/** Prices are per million units. */
const perPrice = 1_000_000n;

/** Splits parts by price. A rule with `part: "above"` applies only to the input tokens above its threshold. */
function* priced(
  parts: readonly UsagePart[],
  prices: ComponentPrices,
  rules: readonly PriceRule[],
): Generator<UsagePart & { sheet: PriceSheet }> {
  const whole = rules.filter(({ part }) => part === undefined);
  const steps = rules
    .filter(({ part, when }) => part === "above" && when.inputTokensAbove !== undefined)
    .toSorted((one, other) => (one.when.inputTokensAbove ?? 0) - (other.when.inputTokensAbove ?? 0));
  const sheets = [
    { from: 0, sheet: new PriceSheet(prices, whole) },
    ...steps.map((step, index) => ({
      from: step.when.inputTokensAbove ?? 0,
      sheet: new PriceSheet(prices, [...whole, ...steps.slice(0, index + 1)]),
    })),
  ];
  const [first] = sheets;
  let at = 0;
  for (const { component, quantity } of parts) {
    if (!inputComponents.has(component)) {
      if (first) yield { component, quantity, sheet: first.sheet };
      continue;
    }
    for (const [index, { from, sheet }] of sheets.entries()) {
      const to = sheets[index + 1]?.from ?? Infinity;
      const length = Math.min(at + quantity, to) - Math.max(at, from);
      if (length > 0) yield { component, quantity: length, sheet };
    }
    at += quantity;
  }
}

const inputComponents: ReadonlySet<PriceComponent> = new Set([
  "cachedInput",
  "cachedImageInput",
  "cachedAudioInput",
  "cacheWrite",
  "cacheWrite1h",
  "imageInput",
  "audioInput",
  "input",
]);

type UsagePart = { component: PriceComponent; quantity: number };

/** Every token belongs to one part. Input parts come first. Null if the input or output count is unknown. */
export function usageParts(usage: TokenUsage): UsagePart[] | null {
  const { inputTokens, outputTokens, details = {} } = usage;
  if (inputTokens === null || outputTokens === null) return null;
  const input = new Remainder(inputTokens);
  const cached = new Remainder(input.remove(usage.cachedInputTokens));
  const cachedImage = cached.remove(details.cachedImageInputTokens);
  const cachedAudio = cached.remove(details.cachedAudioInputTokens);
  const written = new Remainder(input.remove(usage.cacheWriteInputTokens));
  const written1h = written.remove(details.cacheWrite1hTokens);
  const image = input.remove((details.imageInputTokens ?? 0) - cachedImage);
  const audio = input.remove((details.audioInputTokens ?? 0) - cachedAudio);
  const output = new Remainder(outputTokens);
  const imageOutput = output.remove(details.imageOutputTokens);
  const audioOutput = output.remove(details.audioOutputTokens);
  const reasoning = output.remove(usage.reasoningTokens);
  const parts: [PriceComponent, number][] = [
    ["cachedInput", cached.left],
    ["cachedImageInput", cachedImage],
    ["cachedAudioInput", cachedAudio],
    ["cacheWrite", written.left],
    ["cacheWrite1h", written1h],
    ["imageInput", image],
    ["audioInput", audio],
    ["input", input.left],
    ["reasoning", reasoning],
    ["imageOutput", imageOutput],
    ["audioOutput", audioOutput],
    ["output", output.left],
    ["webSearch", details.webSearches ?? 0],
    ["request", 1],
  ];
  return parts.flatMap(([component, quantity]) => (quantity === 0 ? [] : { component, quantity }));
}

/** The rest of a count after its parts. Upstreams may report parts that exceed the count. */
class Remainder {
  left: number;

  constructor(count: number) {
    this.left = count;
  }

  remove(count: number | null | undefined): number {
    const removed = Math.min(Math.max(count ?? 0, 0), this.left);
    this.left -= removed;
    return removed;
  }
}
