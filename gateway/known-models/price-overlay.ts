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

/**
 * A condition that the package lacks. Of several entries with the same `when`, the first matching entry
 * applies.
 */
type OverlayRule = { models: RegExp; rule: PriceRule; source: string; readOn: string };

const openai = { source: "https://openai.com/api-fast-mode/", readOn: "2026-11-25" };
const earlier = { source: "https://openai.com/api-priority-processing/", readOn: "2026-11-25" };
const flex = {
  source: "https://developers.openai.com/api/docs/guides/flex-processing",
  readOn: "2026-11-24",
};
const anthropic = {
  source: "https://platform.claude.com/docs/en/about-claude/pricing",
  readOn: "2026-11-24",
};
const fast = {
  source: "https://platform.claude.com/docs/en/build-with-claude/fast-mode",
  readOn: "2026-11-25",
};
const google = { source: "https://ai.google.dev/gemini-api/docs/optimization", readOn: "2026-11-24" };

const priority = (factor: number): PriceRule => ({ when: { serviceTier: "priority" }, factor });

const rules: Record<string, OverlayRule[]> = {
  openai: [
    // OpenAI's page lists no GPT-6 models, so the cost of their priority tier is unknown.
    { models: /^gpt-5\.6/, rule: priority(2), ...openai },
    { models: /^gpt-5\.5(?!-pro)/, rule: priority(2.5), ...openai },
    { models: /^gpt-5\.4(?!-pro|-nano)/, rule: priority(2), ...openai },
    { models: /^gpt-5(?:\.[12])?(?:$|-20|-codex(?!-mini))/, rule: priority(2), ...openai },
    { models: /^gpt-5-mini/, rule: priority(1.8), ...openai },
    { models: /^gpt-4\.1(?:$|-20|-mini)/, rule: priority(1.75), ...openai },
    { models: /^gpt-4\.1-nano/, rule: priority(2), ...openai },
    { models: /^gpt-4o(?:$|-2024-(?:08|11))/, rule: priority(1.7), ...openai },
    { models: /^gpt-4o-2024-05-13/, rule: priority(1.75), ...earlier },
    { models: /^o3(?:$|-20)/, rule: priority(1.75), ...earlier },
    {
      models: /^o4-mini(?:$|-20)/,
      rule: { when: { serviceTier: "priority" }, prices: { input: 2, cachedInput: 0.5, output: 8 } },
      ...earlier,
    },
    {
      models: /^gpt-4o-mini(?:$|-20)/,
      rule: { when: { serviceTier: "priority" }, prices: { input: 0.25, cachedInput: 0.125, output: 1 } },
      ...openai,
    },
    { models: /^(?:gpt-[56]|o3|o4-mini)/, rule: { when: { serviceTier: "flex" }, factor: 0.5 }, ...flex },
  ],
  anthropic: [
    { models: /^claude/, rule: { when: { serviceTier: "batch" }, factor: 0.5 }, ...anthropic },
    // Without this rule, the cost of Priority Tier would be unknown. It is at most the usual cost.
    { models: /^claude/, rule: priority(1), ...anthropic },
    {
      models: /^claude-(?:(?:opus|sonnet|haiku)-(?:4-[6-9]|[5-9])|fable|mythos)/,
      rule: { when: { region: "us" }, factor: 1.1 },
      ...anthropic,
    },
    { models: /^claude-opus-4-[67]/, rule: { when: { speed: "fast" }, factor: 6 }, ...fast },
    // The source has no fast price for other models.
    { models: /^claude-opus-(?:4-8|5)/, rule: { when: { speed: "fast" }, factor: 2 }, ...fast },
  ],
  google: [{ models: /^gemini/, rule: { when: { serviceTier: "flex" }, factor: 0.5 }, ...google }],
};

/** @param seller the seller's ID in the package */
export function overlayModels(seller: string): readonly ModelInfo[] {
  return models[seller] ?? [];
}

/** @param model the model's ID in the package */
export function withOverlay(prices: Prices, seller: string, model: string): Prices {
  const added: PriceRule[] = [];
  for (const { models: pattern, rule } of rules[seller] ?? []) {
    const isNew = !added.some(({ when }) => JSON.stringify(when) === JSON.stringify(rule.when));
    if (isNew && pattern.test(model)) added.push(rule);
  }
  return added.length === 0 ? prices : { ...prices, rules: [...(prices.rules ?? []), ...added] };
}
