import test from "ava";
import { chooseModels } from "../../console/src/lib/setup-page/choose-models.ts";
import type { SetupModel } from "../../gateway/setup/setup-input.ts";
import { toolGuides, toolSetups } from "../../gateway/setup/tool-setups.ts";
import { listKnownModels } from "../../gateway/known-models/known-models.ts";
import { setupModel } from "./setup-models.ts";

/** Each family from light to hard, and the daily model. */
const families: [seller: string, dialects: SetupModel["dialects"], names: string[], daily: string][] = [
  [
    "anthropic",
    ["messages"],
    ["claude-haiku-4-5", "claude-sonnet-4-5", "claude-opus-4-5"],
    "claude-sonnet-4-5",
  ],
  ["openai", ["chat", "responses"], ["gpt-5-nano", "gpt-5-mini", "gpt-5", "gpt-5-pro"], "gpt-5"],
  ["google", ["chat"], ["gemini-2.5-flash-lite", "gemini-2.5-flash", "gemini-2.5-pro"], "gemini-2.5-flash"],
  [
    "mistral",
    ["chat"],
    ["mistral-small-latest", "mistral-medium-latest", "mistral-large-latest"],
    "mistral-medium-latest",
  ],
  ["local", ["chat"], ["gpt-small", "gpt-medium", "gpt-big"], "gpt-medium"],
];
const prices = [0.05, 0.25, 1.25, 15];
const tools = Object.entries({ ...toolSetups, ...toolGuides });
const llama = setupModel("groq/llama-3.3-70b-versatile", { inputPrice: 0.1, outputPrice: 0.2 });

for (const [seller, dialects, names, daily] of families) {
  test(`every tool gets ${seller}'s models in the family's own order, whatever their prices`, (t) => {
    const priced = names.map((name, index) =>
      setupModel(`${seller}/${name}`, { dialects, inputPrice: prices[index] ?? null, outputPrice: null }),
    );
    const unpriced = priced.map((model) => ({ ...model, inputPrice: null, outputPrice: null }));
    const reversed = priced.map((model, index) => ({
      ...model,
      inputPrice: priced.at(-1 - index)?.inputPrice ?? 0,
      outputPrice: null,
    }));
    for (const [tool, { dialect }] of tools) {
      for (const models of [priced, unpriced, reversed]) {
        for (const connected of [models, models.toReversed()]) {
          const chosen = chooseModels(connected, dialect);
          const slugs = [chosen?.light, chosen?.hard].map((model) => model?.slug);
          t.deepEqual(slugs, [`${seller}/${names[0]}`, `${seller}/${names.at(-1)}`], tool);
        }
      }
      t.is(chooseModels(priced, dialect)?.daily.slug, `${seller}/${daily}`, tool);
      t.deepEqual(chooseModels(unpriced, dialect), chooseModels(unpriced.toReversed(), dialect), tool);
    }
  });
}

for (const [newest, ...older] of [
  ["claude-haiku-4-5", "claude-3-5-haiku-20241022", "claude-3-haiku-20240307"],
  ["claude-opus-5-5", "claude-opus-4-5-20251101", "claude-opus-4-1"],
  ["gpt-5-mini", "gpt-4.1-mini", "gpt-4o-mini"],
  ["gemini-3.8-flash", "gemini-2.5-flash", "gemini-2.0-flash-001"],
  ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us.anthropic.claude-sonnet-4-20250514-v1:0"],
  ["qwen3-coder", "qwen2.5-coder"],
]) {
  test(`of its versions, ${newest} is chosen`, (t) => {
    const models = [newest ?? "", ...older].map((name, index) =>
      setupModel(`x/${name}`, { inputPrice: [0.9, 0.2, 3][index] ?? 1 }),
    );
    for (const connected of [models, models.toReversed()]) {
      for (const { slug } of Object.values(chooseModels(connected) ?? {})) t.is(slug, `x/${newest}`);
    }
  });
}

test("models of different sizes are not versions of each other", (t) => {
  const models = ["llama-3.1-8b", "llama-3.3-70b"].map((name, index) =>
    setupModel(`x/${name}`, { inputPrice: [0.1, 0.9][index] ?? 1 }),
  );
  t.is(chooseModels(models)?.light.slug, "x/llama-3.1-8b");
  t.is(chooseModels(models)?.hard.slug, "x/llama-3.3-70b");
});

test("a tool with its own API gets only models of that API, if there are some", (t) => {
  const claude = ["claude-sonnet-5-5", "claude-opus-5-5"].map((name) =>
    setupModel(`anthropic/${name}`, { dialects: ["messages"], inputPrice: name.includes("opus") ? 5 : 3 }),
  );
  const openai = setupModel("openai/gpt-5-mini", { dialects: ["chat", "responses"], inputPrice: 0.25 });
  const connected = [llama, openai, ...claude];
  for (const [tool, { dialect }] of tools) {
    const chosen = Object.values(chooseModels(connected, dialect) ?? {});
    t.is(chosen.length, 3);
    const start = dialect === "messages" ? "anthropic/" : dialect === "responses" ? openai.slug : "";
    const others = chosen.filter(({ slug }) => !slug.startsWith(start));
    t.deepEqual(others, [], tool);
    t.is(chooseModels([llama], dialect)?.daily, llama, tool);
  }
});

const sellers = {
  "https://api.anthropic.com": [/haiku/, /opus/],
  "https://generativelanguage.googleapis.com": [/flash-lite/, /pro/],
} as const;
for (const [baseUrl, [light, hard]] of Object.entries(sellers)) {
  test(`the price list's models of ${baseUrl} follow the family`, async (t) => {
    const known = await listKnownModels({ baseUrls: [baseUrl], now: new Date("2026-11-27") });
    const connected = known
      .filter(
        ({ upstreamModel }) =>
          /^(claude|gemini)/.test(upstreamModel) && !/image|audio|tts|live|embed/.test(upstreamModel),
      )
      .map(({ upstreamModel, prices }) =>
        setupModel(`x/${upstreamModel}`, {
          inputPrice: prices.input ?? null,
          outputPrice: prices.output ?? null,
        }),
      );
    t.true(connected.length > 5, String(connected.length));
    const chosen = chooseModels(connected);
    t.regex(chosen?.light.slug ?? "", light);
    t.regex(chosen?.hard.slug ?? "", hard);
  });
}
