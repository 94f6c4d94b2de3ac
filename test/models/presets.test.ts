import { inspect } from "node:util";
import test from "ava";
import { findProvider as findSeller } from "@pydantic/genai-prices";
import { readConfig } from "../../gateway/config/config.ts";
import { EnvironmentKeys } from "../../gateway/config/environment-keys.ts";
import { createLog } from "../../gateway/log.ts";
import {
  findPreset,
  findProvider,
  listPresets,
  providerKindNames,
} from "../../gateway/providers/registry.ts";
import { providerNamePattern } from "../../gateway/routing/slug.ts";
import { findKnownModel, listKnownModels } from "../../gateway/known-models/known-models.ts";

for (const preset of listPresets()) {
  test(`${preset.kind}: the preset ${preset.name} works unchanged`, (t) => {
    const { name, label, baseUrl, keyPageUrl, keyVariable } = preset;
    t.regex(name, providerNamePattern, "a provider can be called so");
    t.true(name.length <= 32, "and the column takes it");
    t.not(label.trim(), "");
    if (keyPageUrl !== null) t.is(new URL(keyPageUrl).protocol, "https:");
    if (keyVariable !== null) t.regex(keyVariable, /^[A-Z][A-Z0-9_]*$/);
    t.deepEqual(findPreset(preset.kind, name), preset);

    const provider = findProvider(preset.kind);
    if (baseUrl === null) return;
    const { protocol, hostname } = new URL(baseUrl);
    t.is(protocol, hostname === "localhost" ? "http:" : "https:");
    const api = provider.connect({ baseUrl, secret: "a-secret-0123456789", preset: name });
    t.true(`${api.modelsEndpoint.origin}${api.modelsEndpoint.path}`.startsWith(baseUrl.replace(/\/+$/, "")));
  });
}

test("preset names are unique, since each is offered as a provider's name", (t) => {
  const names = listPresets().map(({ name }) => name);
  t.deepEqual(names, [...new Set(names)]);
});

test("a preset is found only in its own kind", (t) => {
  t.is(findPreset("openai-compatible", "openai")?.baseUrl, "https://api.openai.com/v1");
  t.is(findPreset("demo", "openai"), null);
  t.is(findPreset("openai-compatible", null), null);
  t.is(findPreset("openai-compatible", "__proto__"), null);
});

test("a preset that needs a key links to it and names its environment variable", (t) => {
  for (const { name, baseUrl, keyPageUrl, keyVariable } of listPresets()) {
    const isLocal = baseUrl?.startsWith("http://localhost") ?? false;
    t.is(keyVariable === null, isLocal, name);
    t.is(keyPageUrl === null, isLocal, name);
  }
  t.true(providerKindNames.includes("openai-compatible"));
});

test("OpenAI receives its new parameter names, other upstreams the original ones", (t) => {
  const quirksOf = (preset: string | null) => {
    const provider = findProvider("openai-compatible");
    const api = provider.connect({ baseUrl: "https://api.example.com/v1", secret: null, preset });
    const chat = api.apis({ name: "model", outputTokensMax: null })["chat/completions"];
    return chat.quirks;
  };
  const own = { maxTokensName: "max_completion_tokens", developerRole: "developer" };
  const unknown = { thinkingSwitch: undefined };
  t.deepEqual(quirksOf("openai"), { ...own, ...unknown, extensions: ["verbosity"] });
  t.deepEqual(quirksOf(null), { ...own, ...unknown, extensions: ["own thoughts"] });
  for (const preset of ["mistral", "deepseek", "ollama", "vllm", "lm-studio", "llama-cpp", "qwen"]) {
    t.like(quirksOf(preset), { maxTokensName: "max_tokens", developerRole: "system" }, preset);
  }
  for (const preset of ["deepseek", "moonshot", "zai", "qwen", "openrouter"]) {
    t.true(quirksOf(preset)?.extensions.includes("thoughts"), preset);
  }
  for (const preset of ["groq", "openrouter", "cerebras"]) {
    t.like(quirksOf(preset), { ...own, developerRole: "system" }, preset);
  }
});

const secret = "sk-canary-0123456789abcdef";

function variablesOf(environment: Record<string, string | undefined>): string[] {
  return new EnvironmentKeys(environment).describe([]).map(({ variable }) => variable);
}

test("every preset with a set variable is listed in the order of presets", (t) => {
  const presets = listPresets().filter(
    ({ keyVariable, baseUrl }) => keyVariable !== null && baseUrl !== null,
  );
  const environment = Object.fromEntries(presets.map(({ keyVariable }) => [keyVariable, secret]));
  const described = new EnvironmentKeys(environment).describe([]);
  t.deepEqual(
    described,
    presets.map(({ keyVariable, kind, name, label }) => {
      return { variable: keyVariable ?? "", kind, preset: name, label, hasProvider: false };
    }),
  );
  t.true(described.some(({ variable }) => variable === "OPENAI_API_KEY"));
});

test("empty and unknown variables are ignored", (t) => {
  t.deepEqual(variablesOf({}), []);
  t.deepEqual(variablesOf({ OPENAI_API_KEY: undefined, GROQ_API_KEY: "", XAI_API_KEY: "  " }), []);
  t.deepEqual(variablesOf({ API_KEY: secret, openai_api_key: secret, __proto__: secret }), []);
});

test("a provider of the same kind and preset is recognized, any other is not", (t) => {
  const keys = new EnvironmentKeys({ GROQ_API_KEY: secret });
  const has = (kind: string, preset: string | null) => keys.describe([{ kind, preset }])[0]?.hasProvider;
  t.true(has("openai-compatible", "groq"));
  t.false(has("openai-compatible", "openai"));
  t.false(has("openai-compatible", null));
  t.false(has("demo", "groq"));
});

test("a variable becomes a provider with its preset's name and address", (t) => {
  const keys = new EnvironmentKeys({ MISTRAL_API_KEY: ` ${secret}\n` });
  t.deepEqual(keys.toProvider("MISTRAL_API_KEY", "variables.0"), {
    name: "mistral",
    kind: "openai-compatible",
    preset: "mistral",
    baseUrl: "https://api.mistral.ai/v1",
    apiKey: secret,
  });
});

test("a missing or invalid variable creates no provider and is not repeated", (t) => {
  const keys = new EnvironmentKeys({ OPENAI_API_KEY: "sk-canary two words" });
  for (const [variable, code] of [
    ["GROQ_API_KEY", "not_found"],
    ["PATH", "not_found"],
    ["OPENAI_API_KEY", "invalid_value"],
  ] as const) {
    const error = t.throws(() => keys.toProvider(variable, "variables.3"));
    t.like(error, { code, param: "variables.3" });
    t.true(error?.message.includes(variable));
    t.false(error?.message.includes("canary"));
  }
});

test("permanent AWS keys become a provider if the region is known", (t) => {
  const pair = { AWS_ACCESS_KEY_ID: "AKIA0123456789", AWS_SECRET_ACCESS_KEY: secret };
  const region = { AWS_REGION: "eu-central-1" };
  t.deepEqual(variablesOf(pair), [], "no region");
  t.deepEqual(variablesOf({ ...pair, ...region, AWS_SESSION_TOKEN: "token" }), [], "hours only");
  t.deepEqual(variablesOf({ ...region, AWS_ACCESS_KEY_ID: "AKIA0123456789" }), [], "half a pair");
  t.deepEqual(variablesOf({ ...pair, ...region }), ["AWS_ACCESS_KEY_ID"]);
  t.like(new EnvironmentKeys({ ...pair, ...region }).toProvider("AWS_ACCESS_KEY_ID", "p"), {
    name: "bedrock",
    baseUrl: "https://bedrock-runtime.eu-central-1.amazonaws.com",
    apiKey: `AKIA0123456789:${secret}`,
  });
  const bearer = { AWS_BEARER_TOKEN_BEDROCK: secret, AWS_DEFAULT_REGION: "cn-north-1" };
  t.deepEqual(variablesOf({ ...pair, ...bearer }), ["AWS_BEARER_TOKEN_BEDROCK"]);
  t.like(new EnvironmentKeys(bearer).toProvider("AWS_BEARER_TOKEN_BEDROCK", "p"), {
    baseUrl: "https://bedrock-runtime.cn-north-1.amazonaws.com.cn",
    apiKey: secret,
  });
});

test("Azure's key becomes a provider if its resource is known", (t) => {
  const key = { AZURE_OPENAI_API_KEY: secret };
  t.deepEqual(variablesOf(key), []);
  const both = { ...key, AZURE_OPENAI_ENDPOINT: "https://mine.openai.azure.com/" };
  t.like(new EnvironmentKeys(both).toProvider("AZURE_OPENAI_API_KEY", "p"), {
    kind: "azure-openai",
    baseUrl: "https://mine.openai.azure.com/",
  });
});

test("printing or logging the configuration reveals no key", (t) => {
  const config = readConfig({ OPENAI_API_KEY: secret });
  t.is(config.environmentKeys.describe([]).length, 1);
  const lines: string[] = [];
  createLog("debug", { write: (line) => lines.push(line) }).info({ config }, "the configuration");
  for (const printed of [
    JSON.stringify(config),
    String(config.environmentKeys),
    inspect(config, { depth: 10, showHidden: true }),
    lines.join(""),
  ]) {
    t.false(printed.includes("canary"), printed);
  }
});

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
    baseUrl !== null && findSeller({ providerApiUrl: baseUrl }) ? name : [],
  );
  for (const name of "openai deepseek mistral groq xai together fireworks openrouter moonshot zai cerebras".split(
    " ",
  )) {
    t.true(sold.includes(name), name);
  }
});
