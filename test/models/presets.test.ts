import { inspect } from "node:util";
import test from "ava";
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
    const chat = api.chat({ name: "model", outputTokensMax: null });
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
