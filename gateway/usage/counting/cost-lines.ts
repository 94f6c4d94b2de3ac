import type {
  ComponentPrices,
  CostLine,
  PriceComponent,
  PriceRule,
} from "../../../db/entities/price-details.ts";
import { PriceSheet } from "./price-sheet.ts";
import type { UsagePart } from "./usage-parts.ts";

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
    else
      lines.set(key, {
        component: found.component,
        quantity,
        price: found.price,
        amount: null,
        ...whenOf(found),
      });
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
export const perPrice = 1_000_000n;

function whenOf({ when }: { when?: string }): { when?: string } {
  return when === undefined ? {} : { when };
}

type PricedPart = UsagePart & { sheet: PriceSheet };

/**
 * Splits parts by the prices that apply. A rule with `part: "above"` applies only to the input tokens above its
 * threshold.
 */
function* priced(
  parts: readonly UsagePart[],
  prices: ComponentPrices,
  rules: readonly PriceRule[],
): Generator<PricedPart> {
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
