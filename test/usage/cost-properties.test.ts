import type { TokenUsage } from "../../gateway/wire/token-usage.ts";
import test from "ava";
import fc from "fast-check";
import { type PriceComponent, priceComponents, type PriceRule } from "../../db/entities/price-details.ts";
import {
  costLines,
  costOf,
  type Prices,
  priceRequest,
  usageParts,
} from "../../gateway/usage/counting/cost.ts";

const at = new Date("2026-11-24T12:00:00Z");
const count = fc.oneof(fc.nat(300), fc.nat(3_000_000));
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const price = fc.oneof(fc.constant(0), fc.nat(1_000), fc.nat(200_000_000_000));
const usage: fc.Arbitrary<TokenUsage> = fc.record({
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: fc.option(count),
  cacheWriteInputTokens: fc.option(count),
  reasoningTokens: fc.option(count),
  details: optional(
    fc.record(
      {
        cacheWrite1hTokens: count,
        imageInputTokens: count,
        cachedImageInputTokens: count,
        audioInputTokens: count,
        cachedAudioInputTokens: count,
        imageOutputTokens: count,
        audioOutputTokens: count,
        webSearches: fc.nat(20),
        serviceTier: fc.constantFrom("flex", "priority", "batch"),
        speed: fc.constant("fast"),
        region: fc.constant("us"),
      },
      { requiredKeys: [] },
    ),
  ),
});
const some = fc.dictionary(fc.constantFrom(...priceComponents), price) as fc.Arbitrary<
  Partial<Record<PriceComponent, number>>
>;
const rule: fc.Arbitrary<PriceRule> = fc.record(
  {
    when: fc.oneof(
      fc.record({ inputTokensAbove: count }),
      fc.record({ serviceTier: fc.constantFrom("flex", "priority") }),
      fc.record({ speed: fc.constant("fast") }),
      fc.record({ region: fc.constant("us"), from: fc.constant("2026-01-01") }),
      fc.record({ hours: fc.constant({ from: "11:00", to: "13:00" }) }),
    ),
    prices: some,
    factor: fc.nat(60_000).map((parts) => parts / 10_000),
    part: fc.constant("above" as const),
  },
  { requiredKeys: ["when"] },
);
const prices: fc.Arbitrary<Prices> = fc.record({
  inputPrice: price,
  cachedInputPrice: fc.option(price),
  cacheWritePrice: fc.option(price),
  outputPrice: price,
  priceDetails: fc.option(fc.record({ prices: some, rules: fc.array(rule, { maxLength: 5 }) })),
});

test("the amounts of the lines add up to the cost, and none is negative", (t) => {
  fc.assert(
    fc.property(prices, usage, (list, used) => {
      const { cost, lines } = priceRequest(list, used, at);
      if (cost === null || lines === null) return;
      t.true(lines.every(({ amount }) => amount !== null && amount >= 0));
      t.is(
        lines.reduce((sum, { amount }) => sum + (amount ?? 0), 0),
        cost,
      );
      // The expected cost is the exact sum, rounded once.
      const exact = lines.reduce((sum, line) => sum + BigInt(line.quantity) * BigInt(line.price ?? 0), 0n);
      t.is(cost, Number((exact + 500_000n) / 1_000_000n));
    }),
    { numRuns: 3_000 },
  );
});

test("every token of the input and the output belongs to one part", (t) => {
  fc.assert(
    fc.property(usage, (used) => {
      const parts = usageParts(used) ?? [];
      const sum = parts.reduce((total, { component, quantity }) => {
        return component === "webSearch" || component === "request" ? total : total + quantity;
      }, 0);
      t.is(sum, (used.inputTokens ?? 0) + (used.outputTokens ?? 0));
      t.true(parts.every(({ quantity }) => quantity > 0));
    }),
    { numRuns: 3_000 },
  );
});

test("without conditions, the short computation and the lines agree", (t) => {
  const plain = fc.record({ list: prices, used: usage });
  fc.assert(
    fc.property(plain, ({ list, used }) => {
      const flat = { ...list, priceDetails: null };
      const counts = { ...used, details: undefined };
      const lines = costLines(
        usageParts(counts) ?? [],
        {
          input: flat.inputPrice,
          cachedInput: flat.cachedInputPrice,
          cacheWrite: flat.cacheWritePrice,
          output: flat.outputPrice,
        },
        [],
      );
      t.is(
        priceRequest(flat, counts, at).cost,
        lines.reduce((sum, { amount }) => sum + (amount ?? 0), 0),
      );
    }),
    { numRuns: 3_000 },
  );
});

test("a part of a prompt above a threshold costs its price, the rest the usual one", (t) => {
  const list: Prices = {
    inputPrice: 1_000_000_000,
    cachedInputPrice: 100_000_000,
    cacheWritePrice: null,
    outputPrice: 5_000_000_000,
    priceDetails: {
      prices: {},
      rules: [{ when: { inputTokensAbove: 1_000 }, prices: { input: 3_000_000_000 }, part: "above" }],
    },
  };
  const used = {
    inputTokens: 1_500,
    outputTokens: 100,
    cachedInputTokens: 400,
    cacheWriteInputTokens: null,
    reasoningTokens: null,
  };
  // The 400 cached tokens come first, then 600 tokens below the threshold, then 500 above it.
  t.is(costOf(list, used, at), 400 * 100 + 600 * 1_000 + 500 * 3_000 + 100 * 5_000);
});

const unknown: [what: string, details: TokenUsage["details"]][] = [
  ["a search", { webSearches: 1 }],
  ["audio", { audioInputTokens: 1 }],
  ["a generated image", { imageOutputTokens: 1 }],
  ["a premium tier", { serviceTier: "priority" }],
  ["a premium speed", { speed: "fast" }],
];
for (const [what, details] of unknown) {
  test(`${what} without a price makes the cost unknown`, (t) => {
    const list = { inputPrice: 1, cachedInputPrice: null, cacheWritePrice: null, outputPrice: 1 };
    const counts = { inputTokens: 10, outputTokens: 10, cachedInputTokens: null, reasoningTokens: null };
    t.is(costOf(list, { ...counts, cacheWriteInputTokens: null, details }, at), null);
  });
}

test("a million costs lose nothing by rounding", (t) => {
  // At these prices, no token costs a whole number of nano-dollars.
  const list = {
    inputPrice: 3_625_000,
    cachedInputPrice: 2_800_000,
    cacheWritePrice: null,
    outputPrice: 870_001,
  };
  let exact = 0n;
  let sum = 0n;
  let seed = 7;
  const next = (max: number) => (seed = (seed * 48_271) % 2_147_483_647) % max;
  for (let row = 0; row < 1_000_000; row++) {
    const [cached, fresh, output] = [next(1_000), next(1_000), next(500)];
    const used = { inputTokens: cached + fresh, outputTokens: output, cachedInputTokens: cached };
    sum += BigInt(costOf(list, { ...used, cacheWriteInputTokens: null, reasoningTokens: null }, at) ?? 0);
    exact += BigInt(fresh) * 3_625_000n + BigInt(cached) * 2_800_000n + BigInt(output) * 870_001n;
  }
  // Each row is exact to half a nano-dollar, and all rows together to a hundred-thousandth of a dollar.
  const difference = Number(sum * 1_000_000n - exact) / 1_000_000;
  t.true(Math.abs(difference) < 10_000, `${difference} nano-dollars`);
});
