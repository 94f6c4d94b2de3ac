import test from "ava";
import { chooseModels } from "../../console/src/lib/setup-page/choose-models.ts";
import { generateSetup } from "../../gateway/setup/generate-setup.ts";
import type { SetupInput, SetupModel } from "../../gateway/setup/setup-input.ts";
import { type ToolId, toolIds, toolSetups } from "../../gateway/setup/tool-setups.ts";
import { keyValue, setupModel, setupModels } from "./setup-models.ts";

function generate(tool: ToolId, more: Partial<SetupInput> = {}) {
  const models = setupModels();
  return generateSetup({
    operatingSystem: "posix",
    baseUrl: "https://gateway.example.com",
    key: null,
    models,
    ...more,
    tool,
  });
}

for (const tool of toolIds) {
  test(`${toolSetups[tool].name}: the page's texts match`, (t) => {
    const { command, files, undo, verify } = generate(tool, { key: keyValue });
    t.true(command.startsWith(` GATEWAY_API_KEY='${keyValue}' sh <<'MODEL_GATEWAY'\n`));
    t.is(command.split(keyValue).length, 2, "The key stands on the first line, and nowhere else.");
    t.true(files.length > 0 && verify.length > 0);
    t.is(undo, `sh ~/.config/model-gateway/undo-${tool}.sh`);
    t.true(files.some(({ content }) => content.includes("<your API key>")));
    t.false(JSON.stringify([files, verify]).includes(keyValue));
  });

  test(`${toolSetups[tool].name}: no line exceeds a terminal, with many models, too`, (t) => {
    const many = Array.from({ length: 300 }, (_, index) =>
      setupModel(`provider/model-${index}-${"x".repeat(100)}`),
    );
    const { command } = generate(tool, { models: { ...setupModels(), connected: many } });
    t.true(command.startsWith(" sh <<'MODEL_GATEWAY'\n"));
    t.true(Math.max(...command.split("\n").map((line) => line.length)) < 1_024);
    t.notRegex(command, /[^\n\x20-\x7e]/);
  });
}

test("Claude Code gets a context window for unknown models, and betas for Anthropic", (t) => {
  const claude = setupModel("anthropic/claude-opus-5.5", {
    dialects: ["messages"],
    contextWindow: 1_000_000,
  });
  const qwen = setupModel("qwen/qwen3-coder", { contextWindow: 262_144 });
  const shown = (light: typeof claude, daily = claude) => {
    const models = { light, daily, hard: claude, connected: [light, daily, claude] };
    return generate("claude-code", { models }).files[0];
  };
  t.regex(shown(qwen)?.content ?? "", /"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "262144"/);
  t.regex(shown(qwen, setupModel("x/y"))?.content ?? "", /"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "200000"/);
  t.regex(shown(qwen)?.content ?? "", /"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "1"/);
  t.notRegex(shown(claude)?.content ?? "", /MAX_CONTEXT|EXPERIMENTAL/);
  t.true(shown(claude)?.removes.includes("env > CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS"));
});

test("Copilot CLI receives the slug of any model, and loses other names", (t) => {
  for (const slug of ["anthropic/claude-opus-5.5", "qwen/qwen3-coder"]) {
    const { files } = generate("copilot", { models: setupModels({ daily: slug }) });
    const shown = files.find(({ path }) => path.endsWith("copilot.sh"))?.content ?? "";
    t.regex(shown, /test -n "\$FISH_VERSION" && set -e COPILOT_PROVIDER_MODEL_ID\n/);
    t.regex(shown, /unset COPILOT_PROVIDER_MODEL_ID\n/);
    t.true(shown.includes(`export COPILOT_MODEL='${slug}'`), shown);
  }
});

test("no tool's setup fixes a temperature for a model by its slug", (t) => {
  const daily = "anthropic/claude-opus-5.5";
  for (const tool of ["aider", "mistral-vibe", "copilot"] as const) {
    const { files } = generate(tool, { models: setupModels({ daily }) });
    t.notRegex(files.map(({ content }) => content).join("\n"), /temperature/);
  }
});

test("two possible files are both named, in the system's own path notation", (t) => {
  const shown = (tool: ToolId, operatingSystem: SetupInput["operatingSystem"]) =>
    generate(tool, { operatingSystem }).files.map(({ instead }) => instead);
  const opencode = "or ~/.config/opencode/opencode.jsonc, if it exists";
  t.deepEqual(shown("opencode", "posix"), [opencode, null]);
  t.deepEqual(shown("opencode", "windows"), [opencode.replaceAll("/", "\\"), null]);
  t.regex(shown("kilo-code", "posix")[0] ?? "", /\.jsonc, if it exists$/);
  t.deepEqual(shown("continue", "posix"), [
    "or ~/.continue/configs/gateway.yaml, if you have your own config.yaml",
    null,
  ]);
});

const warned: [string, ToolId, Parameters<typeof setupModel>, RegExp | null][] = [
  ["a model without tools", "pi", ["x/y", { canCallTools: false }], /x\/y cannot call tools/],
  ["a model with little room", "pi", ["x/y", { contextWindow: 8_192 }], /context window of only 8192 tokens/],
  ["what is not known is no reason", "pi", ["x/y", { canCallTools: null, contextWindow: null }], null],
  ["Claude Code with another's model", "claude-code", ["qwen/q"], /qwen\/q uses a different API format/],
  ["Claude Code with Claude", "claude-code", ["anthropic/claude-opus-5.5", { dialects: ["messages"] }], null],
  [
    "Codex with a newer model of OpenAI's elsewhere",
    "codex",
    ["azure/gpt-6-sol"],
    /only OpenAI's own Responses API/,
  ],
  ["Codex with it at OpenAI", "codex", ["openai/gpt-6-sol", { dialects: ["chat", "responses"] }], null],
  ["Codex with any other model", "codex", ["qwen/qwen3-coder"], null],
];

test("a warning about several models appears once and names them", (t) => {
  const [light, daily, hard] = [setupModel("a/x"), setupModel("a/y"), setupModel("a/z")];
  const { warnings } = generate("claude-code", { models: { light, daily, hard, connected: [] } });
  t.is(warnings.length, 1);
  t.regex(warnings[0] ?? "", /^a\/x, a\/y, and a\/z use a different API format/);
});

test("a truncated key is distinguished from a foreign one, with its length", (t) => {
  const whole = `sk-gateway-${"a1B2c3D".repeat(7)}`;
  const advice = "Paste the whole key, and only the key.";
  for (const [key, message] of [
    ["sk-gateway-oops", `This key is incomplete: it has 15 characters instead of 60. ${advice}`],
    [whole.slice(0, 19), `This key is incomplete: it has 19 characters instead of 60. ${advice}`],
    [`${whole}a`, `This key is too long: it has 61 characters instead of 60. ${advice}`],
    [
      whole.replace("B", "\u{1f511}"),
      "This key contains an invalid character. Use only letters and digits after sk-gateway-.",
    ],
  ] as const)
    t.throws(() => generate("codex", { key }), { message }, key);
  t.notThrows(() => generate("codex", { key: whole }));
  t.throws(() => generate("codex", { key: "sk-other" }), { message: /starts with sk-gateway-/ });
});

for (const [title, tool, parameters, expected] of warned) {
  test(`the setup warns: ${title}`, (t) => {
    const model = setupModel(...parameters);
    const { warnings } = generate(tool, {
      models: { light: model, daily: model, hard: model, connected: [model] },
    });
    if (expected === null) return void t.deepEqual(warnings, []);
    t.is(warnings.length, 1);
    t.regex(warnings[0] ?? "", expected);
  });
}

for (const [baseUrl, isWarned] of [
  ["http://localhost:8080", true],
  ["http://192.168.1.4:8080", true],
  ["http://172.31.0.1", true],
  ["http://100.100.1.1", true],
  ["http://[::1]:8080", true],
  ["http://[fd00::1]", true],
  ["http://gateway", true],
  ["http://gateway.local", true],
  ["https://gateway.example.com", false],
  ["https://172.32.0.1", false],
  ["https://8.8.8.8", false],
  ["https://[2606:4700::1]", false],
] as const) {
  test(`Cursor ${isWarned ? "cannot" : "can"} reach ${baseUrl}`, (t) => {
    t.is(
      generate("other", { baseUrl }).warnings.some((text) => text.includes("Cursor")),
      isWarned,
    );
  });
}

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
    "a model without a price is used only if none has one",
    [opus, local, mini],
    ["openai/mini", "anthropic/opus", "anthropic/opus"],
  ],
  [
    "the demo is not used beside other models",
    [setupModel("demo/echo", { ...unknown, isDemo: true }), haiku],
    ["anthropic/haiku", "anthropic/haiku", "anthropic/haiku"],
  ],
  [
    "the demo is used if no other model is connected",
    [setupModel("demo/echo", { ...unknown, isDemo: true })],
    ["demo/echo", "demo/echo", "demo/echo"],
  ],
  ["none", [], null],
  [
    "a model without tools, context or text is not used beside others",
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
    "a model without tools is used if no other is connected",
    [setupModel("x/talker", { canCallTools: false })],
    ["x/talker", "x/talker", "x/talker"],
  ],
  [
    "a free model is the cheapest",
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
