import type { ModelInfo } from "@pydantic/genai-prices";
import type { PriceRule } from "../../db/entities/price-details.ts";
import type { Prices } from "./prices.ts";

/** Models that the package lacks, by the seller's ID in the package. */
const models: Record<string, ModelInfo[]> = {
  openai: [
    {
      // https://developers.openai.com/api/docs/models/gpt-6.1-sol, 2026-11-24
      id: "gpt-6.1-sol",
      match: { equals: "gpt-6.1-sol" },
      context_window: 1_050_000,
      prices: {
        input_mtok: { base: 2, tiers: [{ start: 272_000, price: 4 }] },
        cache_read_mtok: { base: 0.1, tiers: [{ start: 272_000, price: 0.2 }] },
        cache_write_mtok: { base: 2.5, tiers: [{ start: 272_000, price: 5 }] },
        output_mtok: { base: 10, tiers: [{ start: 272_000, price: 15 }] },
        web_searches_kcount: 10,
      },
    },
  ],
};

const priority = (factor: number): PriceRule => ({ when: { serviceTier: "priority" }, factor });

/** Conditions that the package lacks. Of several entries with the same `when`, the first matching one applies. */
const rules: Record<string, readonly (readonly [models: RegExp, rule: PriceRule])[]> = {
  openai: [
    // https://openai.com/api-fast-mode/, 2026-11-25. It lists no GPT-6 models, so the cost of their priority tier is
    // unknown.
    [/^gpt-5\.6/, priority(2)],
    [/^gpt-5\.5(?!-pro)/, priority(2.5)],
    [/^gpt-5\.4(?!-pro|-nano)/, priority(2)],
    [/^gpt-5(?:\.[12])?(?:$|-20|-codex(?!-mini))/, priority(2)],
    [/^gpt-5-mini/, priority(1.8)],
    [/^gpt-4\.1(?:$|-20|-mini)/, priority(1.75)],
    [/^gpt-4\.1-nano/, priority(2)],
    [/^gpt-4o(?:$|-2024-(?:08|11))/, priority(1.7)],
    [
      /^gpt-4o-mini(?:$|-20)/,
      { when: { serviceTier: "priority" }, prices: { input: 0.25, cachedInput: 0.125, output: 1 } },
    ],
    // https://openai.com/api-priority-processing/, 2026-11-25
    [/^gpt-4o-2024-05-13/, priority(1.75)],
    [/^o3(?:$|-20)/, priority(1.75)],
    [
      /^o4-mini(?:$|-20)/,
      { when: { serviceTier: "priority" }, prices: { input: 2, cachedInput: 0.5, output: 8 } },
    ],
    // https://developers.openai.com/api/docs/guides/flex-processing, 2026-11-24
    [/^(?:gpt-[56]|o3|o4-mini)/, { when: { serviceTier: "flex" }, factor: 0.5 }],
  ],
  anthropic: [
    // https://platform.claude.com/docs/en/about-claude/pricing, 2026-11-24
    [/^claude/, { when: { serviceTier: "batch" }, factor: 0.5 }],
    // Without this rule, the cost of Priority Tier would be unknown. It is at most the usual cost.
    [/^claude/, priority(1)],
    [
      /^claude-(?:(?:opus|sonnet|haiku)-(?:4-[6-9]|[5-9])|fable|mythos)/,
      { when: { region: "us" }, factor: 1.1 },
    ],
    // https://platform.claude.com/docs/en/build-with-claude/fast-mode, 2026-11-25. Others have no fast price.
    [/^claude-opus-4-[67]/, { when: { speed: "fast" }, factor: 6 }],
    [/^claude-opus-(?:4-8|5)/, { when: { speed: "fast" }, factor: 2 }],
  ],
  // https://ai.google.dev/gemini-api/docs/optimization, 2026-11-24
  google: [[/^gemini/, { when: { serviceTier: "flex" }, factor: 0.5 }]],
};

/** @param seller the seller's ID in the package */
export function overlayModels(seller: string): readonly ModelInfo[] {
  return models[seller] ?? [];
}

/** @param model the model's ID in the package */
export function withOverlay(prices: Prices, seller: string, model: string): Prices {
  const added: PriceRule[] = [];
  for (const [pattern, rule] of rules[seller] ?? []) {
    const isNew = !added.some(({ when }) => JSON.stringify(when) === JSON.stringify(rule.when));
    if (isNew && pattern.test(model)) added.push(rule);
  }
  return added.length === 0 ? prices : { ...prices, rules: [...(prices.rules ?? []), ...added] };
}
