import test from "ava";
import {
  findPreset,
  listPresets,
  findProvider,
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
  t.deepEqual(quirksOf("openai"), { ...own, extensions: ["verbosity"] });
  t.deepEqual(quirksOf(null), { ...own, extensions: [] }, "nothing is known about it");
  for (const preset of ["mistral", "deepseek", "ollama", "vllm", "lm-studio", "llama-cpp", "qwen"]) {
    t.like(quirksOf(preset), { maxTokensName: "max_tokens", developerRole: "system" }, preset);
  }
  // These presets require the thoughts of earlier turns. Groq and Mistral reject them.
  for (const preset of ["deepseek", "moonshot", "zai", "qwen", "openrouter"]) {
    t.true(quirksOf(preset)?.extensions.includes("thoughts"), preset);
  }
  for (const preset of ["groq", "openrouter", "cerebras"]) {
    t.like(quirksOf(preset), { ...own, developerRole: "system" }, preset);
  }
});
