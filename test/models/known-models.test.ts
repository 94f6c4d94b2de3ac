import test from "ava";
import { findProvider } from "@pydantic/genai-prices";
import { findKnownModel, listKnownModels } from "../../gateway/known-models/known-models.ts";
import { listPresets } from "../../gateway/providers/registry.ts";

const now = new Date("2026-11-21T12:00:00Z");
const sellers = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  gemini: "https://generativelanguage.googleapis.com/v1beta",
  vertex: "https://us-east5-aiplatform.googleapis.com/v1",
  bedrock: "https://bedrock-runtime.us-east-1.amazonaws.com",
  azure: "https://resource.openai.azure.com",
  mistral: "https://api.mistral.ai/v1",
  groq: "https://api.groq.com/openai/v1",
  fireworks: "https://api.fireworks.ai/inference/v1",
  openrouter: "https://openrouter.ai/api/v1",
  deepseek: "https://api.deepseek.com",
};

function find(seller: keyof typeof sellers, name: string) {
  return findKnownModel({ baseUrls: [sellers[seller]], now }, name);
}

test("a model is known with its prices, limits and capabilities", async (t) => {
  t.deepEqual(await find("anthropic", "claude-opus-4-5"), {
    upstreamModel: "claude-opus-4-5",
    label: "Claude Opus 4.5",
    contextWindow: 200_000,
    outputTokensMax: 64_000,
    capabilities: ["vision", "tools", "reasoning", "structuredOutput"],
    prices: {
      input: 5,
      cachedInput: 0.5,
      cacheWrite: 6.25,
      output: 25,
      cacheWrite1h: 10,
      webSearch: 10,
      rules: [
        { when: { serviceTier: "batch" }, factor: 0.5 },
        { when: { serviceTier: "priority" }, factor: 1 },
      ],
    },
    priceNote: null,
  });
  t.like(await find("openai", "text-embedding-3-small"), {
    contextWindow: 8_192,
    outputTokensMax: null,
    capabilities: ["embeddings"],
    prices: { input: 0.02, cachedInput: null, cacheWrite: null, output: null },
  });
});

const same: [seller: keyof typeof sellers, name: string, as: string][] = [
  ["openai", "gpt-4o-2024-11-20", "gpt-4o"],
  ["openai", "gpt-5.4-2026-03-05", "gpt-5.4"],
  ["anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5"],
  ["anthropic", "claude-sonnet-4-20250514", "claude-sonnet-4-0"],
  ["gemini", "models/gemini-2.5-pro", "gemini-2.5-pro"],
  ["vertex", "publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro"],
  ["vertex", "claude-opus-4-6@default", "claude-opus-4-6"],
  ["vertex", "claude-sonnet-4-5@20250929", "claude-sonnet-4-5"],
  ["bedrock", "us.amazon.nova-lite-v1:0", "amazon.nova-lite-v1:0"],
  ["bedrock", "eu.anthropic.claude-opus-4-6-v1", "us.anthropic.claude-opus-4-6-v1"],
  [
    "bedrock",
    "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0",
    "us.anthropic.claude-haiku-4-5-20251001-v1:0",
  ],
  ["azure", "GPT-5.4", "gpt-5.4"],
];

for (const [seller, name, as] of same) {
  test(`${seller}: ${name} is ${as}`, async (t) => {
    const [one, other] = [await find(seller, name), await find(seller, as)];
    t.is(one?.upstreamModel, name);
    t.truthy(other);
    t.deepEqual({ ...one, upstreamModel: as, label: "" }, { ...other, label: "" });
  });
}

const different: [seller: keyof typeof sellers, name: string, than: string][] = [
  ["openai", "gpt-4o-2024-05-13", "gpt-4o"],
  ["openai", "gpt-5.4-mini", "gpt-5.4"],
  ["mistral", "mistral-large-2512", "mistral-large-2411"],
  ["bedrock", "us.anthropic.claude-opus-5", "global.anthropic.claude-opus-5"],
];

for (const [seller, name, than] of different) {
  test(`${seller}: ${name} costs something else than ${than}`, async (t) => {
    const [one, other] = [await find(seller, name), await find(seller, than)];
    t.truthy(one);
    t.truthy(other);
    t.notDeepEqual(one?.prices, other?.prices);
  });
}

const unknown: [seller: keyof typeof sellers, name: string, why: string][] = [
  ["anthropic", "claude-sonnet-5-7", "a later version, which the data's own rule takes in"],
  ["bedrock", "us.anthropic.claude-sonnet-5-7", "a later version"],
  ["openai", "gpt-5.4-turbo", "another model of the family"],
  ["openai", "ft:gpt-4o-2024-08-06:org::id", "tuned, at another price"],
  ["openai", "whisper-1", "sold by the minute"],
  ["openai", "my-gpt-4o", "somebody's own"],
  ["gemini", "gemini-1.5-flash-8b", "half the price of the one it begins like"],
  ["gemini", "claude-opus-4-6", "Google sells it elsewhere"],
  ["mistral", "mistral-large-latest", "another model next month"],
  ["mistral", "mistral-large-2610", "versions have their own prices"],
  ["openrouter", "openai/gpt-5.4:nitro", "another price"],
  ["openrouter", "acme/gpt-4o", "nobody knows it"],
  ["azure", "my-o4-mini-deployment", "a name of the customer's"],
  ["openai", "", "no name"],
  ["openai", "constructor", "no name"],
];

for (const [seller, name, why] of unknown) {
  test(`${seller}: ${name} is unknown: ${why}`, async (t) => {
    t.is(await find(seller, name), null);
  });
}

test("an unknown upstream has no known models", async (t) => {
  for (const baseUrl of [
    "http://localhost:11434/v1",
    "https://gpt.example.com/v1",
    "https://example.com/https://api.openai.com/v1",
  ]) {
    t.is(await findKnownModel({ baseUrls: [baseUrl], now }, "gpt-4o"), null, baseUrl);
    t.deepEqual(await listKnownModels({ baseUrls: [baseUrl], now }), [], baseUrl);
  }
  t.is(await findKnownModel({ baseUrls: [], now }, "gpt-4o"), null);
});

test("behind an unknown address the next known one applies", async (t) => {
  const baseUrls = ["https://proxy.example.com/v1", sellers.openai];
  t.deepEqual(await findKnownModel({ baseUrls, now }, "gpt-4o"), await find("openai", "gpt-4o"));
});

test("a price is the current one, with exceptions noted beside it", async (t) => {
  const priceOf = async (name: string, day: string) => {
    const known = await findKnownModel({ baseUrls: [sellers.openai], now: new Date(day) }, name);
    return known?.prices.input;
  };
  t.is(await priceOf("o3", "2025-06-09"), 10);
  t.is(await priceOf("o3", "2025-06-10"), 2);

  t.regex((await find("openai", "gpt-5.4"))?.priceNote ?? "", /^Prompts above 272,000 tokens cost more\.$/);
  const deepseek = await find("deepseek", "deepseek-chat");
  t.is(deepseek?.prices.input, 0.135);
  t.deepEqual(deepseek?.prices.rules, [
    {
      when: { hours: { from: "00:30", to: "16:30" } },
      prices: { input: 0.27, cachedInput: 0.07, output: 1.1 },
    },
  ]);
  t.regex(deepseek?.priceNote ?? "", /Peak hours cost more/);
});

test("no long prompt starts one token below a round number", async (t) => {
  for (const baseUrl of Object.values(sellers)) {
    for (const { upstreamModel, prices } of await listKnownModels({ baseUrls: [baseUrl], now })) {
      for (const { when } of prices.rules ?? []) t.is((when.inputTokensAbove ?? 0) % 1000, 0, upstreamModel);
    }
  }
});

for (const [seller, baseUrl] of Object.entries(sellers)) {
  test(`${seller}: every offered model is known under that name`, async (t) => {
    const offered = await listKnownModels({ baseUrls: [baseUrl], now });
    t.true(offered.length > 0);
    const names = offered.map(({ upstreamModel }) => upstreamModel);
    t.deepEqual(names, [...new Set(names)].toSorted(), "each once, by name");
    for (const known of offered) {
      const { upstreamModel, prices, contextWindow, outputTokensMax } = known;
      t.deepEqual(await findKnownModel({ baseUrls: [baseUrl], now }, upstreamModel), known);
      t.true(upstreamModel.length <= 255);
      t.true(prices.input !== null && prices.input >= 0 && prices.input < 1_000);
      t.true((contextWindow ?? 0) > 0);
      t.true(outputTokensMax === null || outputTokensMax <= (contextWindow ?? 0), upstreamModel);
    }
  });
}

test("the base URL identifies every priced well-known upstream", (t) => {
  const sold = listPresets().flatMap(({ name, baseUrl }) =>
    baseUrl !== null && findProvider({ providerApiUrl: baseUrl }) ? name : [],
  );
  for (const name of "openai deepseek mistral groq xai together fireworks openrouter moonshot zai cerebras".split(
    " ",
  )) {
    t.true(sold.includes(name), name);
  }
});
