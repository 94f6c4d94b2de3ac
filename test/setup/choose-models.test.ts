import test from "ava";
import { chooseModels } from "../../console/src/lib/setup-page/choose-models.ts";
import type { SetupModel } from "../../gateway/setup/setup-input.ts";
import { setupModel } from "./setup-models.ts";

const opus = setupModel("anthropic/opus", { inputPrice: 5, outputPrice: 25 });
const sonnet = setupModel("anthropic/sonnet", { inputPrice: 3, outputPrice: 15 });
const haiku = setupModel("anthropic/haiku", { inputPrice: 1, outputPrice: 5 });
const mini = setupModel("openai/mini", { inputPrice: 0.25, outputPrice: 2 });
const unknown = { inputPrice: null, outputPrice: null };
const local = setupModel("local/llama", unknown);

const cases: [string, SetupModel[], [string, string, string] | null][] = [
  ["by price", [sonnet, opus, mini, haiku], ["openai/mini", "anthropic/haiku", "anthropic/opus"]],
  ["in any order", [haiku, mini, opus, sonnet], ["openai/mini", "anthropic/haiku", "anthropic/opus"]],
  ["the dearer one of two for daily use", [mini, opus], ["openai/mini", "anthropic/opus", "anthropic/opus"]],
  ["one for all", [local], ["local/llama", "local/llama", "local/llama"]],
  [
    "no model whose price is unknown, where others are known",
    [opus, local, mini],
    ["openai/mini", "anthropic/opus", "anthropic/opus"],
  ],
  [
    "the demo is for nobody's work",
    [setupModel("demo/echo", { ...unknown, isDemo: true }), haiku],
    ["anthropic/haiku", "anthropic/haiku", "anthropic/haiku"],
  ],
  [
    "the demo where there is nothing else",
    [setupModel("demo/echo", { ...unknown, isDemo: true })],
    ["demo/echo", "demo/echo", "demo/echo"],
  ],
  ["none", [], null],
  [
    "not what cannot call tools, has little room or makes no text",
    [
      setupModel("x/talker", { canCallTools: false, inputPrice: 0.1 }),
      setupModel("x/small", { contextWindow: 8_000, inputPrice: 90 }),
      setupModel("openai/text-embedding-3-small", { inputPrice: 0.02, outputPrice: 0 }),
      haiku,
      sonnet,
    ],
    ["anthropic/haiku", "anthropic/sonnet", "anthropic/sonnet"],
  ],
  [
    "all the same if there is no other",
    [setupModel("x/talker", { canCallTools: false })],
    ["x/talker", "x/talker", "x/talker"],
  ],
  [
    "for nothing is cheapest",
    [haiku, setupModel("free/model", { inputPrice: 0, outputPrice: 0 })],
    ["free/model", "anthropic/haiku", "anthropic/haiku"],
  ],
];

for (const [title, connected, expected] of cases) {
  test(`the first selection is correct: ${title}`, (t) => {
    const chosen = chooseModels(connected);
    t.deepEqual(chosen && [chosen.light.slug, chosen.daily.slug, chosen.hard.slug], expected);
  });
}
