import test from "ava";
import { chat } from "../../gateway/dialects/chat/chat.ts";
import type { Dialect } from "../../gateway/dialects/dialect.ts";
import { messages } from "../../gateway/dialects/messages/messages.ts";
import { responses } from "../../gateway/dialects/responses/responses.ts";
import { providerKinds } from "../../gateway/providers/registry.ts";
import { bodyLimits } from "../helpers/body-limits.ts";

/** The client features whose parameters differ by model, in each client's API. */
type Feature =
  | "forced tool"
  | "any tool"
  | "sampling"
  | "off"
  | "schema with tools"
  | "cut cache"
  | "only a document";

const schema = {
  type: "object",
  properties: { age: { type: "integer", minimum: 0 } },
  required: ["age"],
};
const fn = { name: "f", description: "Does it.", parameters: { anyOf: [schema] } };
const chatTool = { type: "function", function: fn };
const flatTool = { type: "function", ...fn };
const claudeTool = { name: "f", description: "Does it.", input_schema: { anyOf: [schema] } };
const format = { type: "json_schema", name: "x", schema };

const user = { role: "user", content: "Hi" };
const pdf = Buffer.from("%PDF-1.7").toString("base64");
const file = { filename: "a.pdf", file_data: `data:application/pdf;base64,${pdf}` };
const document = { type: "document", source: { type: "base64", media_type: "application/pdf", data: pdf } };
const bodies: Record<string, { dialect: Dialect; base: object; features: Record<Feature, object | null> }> = {
  chat: {
    dialect: chat as Dialect,
    base: { model: "a/b", messages: [user], max_completion_tokens: 20_000 },
    features: {
      "forced tool": { tools: [chatTool], tool_choice: { type: "function", function: { name: "f" } } },
      "any tool": { tools: [chatTool], tool_choice: "required" },
      sampling: { temperature: 0.5, top_p: 0.9, top_k: 5 },
      off: { reasoning_effort: "none" },
      "schema with tools": {
        tools: [chatTool],
        response_format: { type: "json_schema", json_schema: { name: "x", schema } },
      },
      "cut cache": { cache_control: { type: "ephemeral" } },
      "only a document": { messages: [{ role: "user", content: [{ type: "file", file }] }] },
    },
  },
  messages: {
    dialect: messages,
    base: { model: "a/b", messages: [user], max_tokens: 20_000 },
    features: {
      "forced tool": { tools: [claudeTool], tool_choice: { type: "tool", name: "f" } },
      "any tool": { tools: [claudeTool], tool_choice: { type: "any" } },
      sampling: { temperature: 0.5, top_p: 0.9, top_k: 5 },
      off: { thinking: { type: "disabled" } },
      "schema with tools": {
        tools: [claudeTool],
        output_config: { format: { type: "json_schema", schema } },
      },
      "cut cache": { cache_control: { type: "ephemeral" } },
      "only a document": { messages: [{ role: "user", content: [document] }] },
    },
  },
  responses: {
    dialect: responses,
    base: { model: "a/b", input: "Hi", max_output_tokens: 20_000, store: false },
    features: {
      "forced tool": { tools: [flatTool], tool_choice: { type: "function", name: "f" } },
      "any tool": { tools: [flatTool], tool_choice: "required" },
      sampling: { temperature: 0.5, top_p: 0.9 },
      off: { reasoning: { effort: "none" } },
      "schema with tools": { tools: [flatTool], text: { format } },
      "cut cache": null,
      "only a document": { input: [{ role: "user", content: [{ type: "input_file", ...file }] }] },
    },
  },
};

type Row = [
  kind: keyof typeof providerKinds,
  model: string,
  preset: string | null,
  cases: Partial<Record<Feature, Expected>>,
];
type Expected = { dropped: string[]; has?: RegExp[]; lacks?: RegExp[] };

const noSampling: Expected = {
  dropped: ["temperature", "top_p", "top_k"],
  lacks: [/temperature|top_?[pk]/i],
};
const inWords: Expected = {
  dropped: ["tool_choice"],
  has: [/You must now call/],
  lacks: [/"(any|tool)":\{|"type":"(any|tool)"/],
};
const forced: Expected = { dropped: [], has: [/"(any|tool)":\{|"type":"(any|tool)"/] };
const nothing = (has: RegExp): Expected => ({ dropped: [], has: [has] });
const closed: Expected = {
  dropped: [],
  has: [/"type":"object","anyOf"/, /additionalProperties\W+false/, /\(minimum: 0\)/],
};
const rooted: Expected = { dropped: [], has: [/"type":"object","anyOf"/] };
const held: Expected = {
  dropped: ["response_format"],
  has: [/respond with one valid JSON/],
  lacks: [/responseMimeType/],
};

const table: Row[] = (
  [
    ["claude-opus-5-5", inWords, noSampling, /"effort":"low"/, false],
    ["claude-sonnet-5-5", inWords, noSampling, /"between_tools"/, false],
    ["claude-fable-5-1", inWords, noSampling, /"effort":"low"/, false],
    ["claude-haiku-5-5", forced, noSampling, /"thinking":\{"type":"disabled"\}/, false],
    ["claude-opus-5", forced, noSampling, /"thinking":\{"type":"disabled"\}/, false],
    ["claude-opus-9-1", inWords, noSampling, /"effort":"low"/, false],
    [
      "claude-sonnet-4-5",
      forced,
      { dropped: ["top_p"], has: [/temperature/], lacks: [/top_?p/i] },
      /Hi/,
      true,
    ],
  ] as [string, Expected, Expected, RegExp, boolean][]
).flatMap(([name, choice, sampling, off, enforces]) =>
  (["anthropic", "bedrock"] as const).map((kind): Row => {
    const isConverse = kind === "bedrock";
    return [
      kind,
      isConverse ? `us.anthropic.${name}` : name,
      null,
      {
        "forced tool": choice,
        "any tool": choice,
        sampling,
        off: nothing(off),
        "schema with tools": isConverse && !enforces ? rooted : closed,
        "cut cache": nothing(isConverse ? /"cachePoint":\{"type":"default"\}/ : /"cache_control"/),
        "only a document": nothing(
          isConverse ? /\{"text":"See the document\."\},\{"document"/ : /"document"/,
        ),
      },
    ];
  }),
);

table.push(
  ["gemini", "gemini-2.5-flash", null, { off: nothing(/"thinkingBudget":0/), "schema with tools": held }],
  ["gemini", "gemini-2.5-pro", null, { off: nothing(/"thinkingBudget":128/), "schema with tools": held }],
  ["gemini", "gemini-2.0-flash", null, { "schema with tools": held }],
  [
    "gemini",
    "gemini-3-flash-preview",
    null,
    { off: nothing(/"thinkingLevel":"MINIMAL"/), "schema with tools": nothing(/responseMimeType/) },
  ],
  ["gemini", "gemini-3.1-pro-preview", null, { off: nothing(/"thinkingLevel":"LOW"/) }],
  ["openai-compatible", "deepseek-v4-pro", "deepseek", { off: nothing(/"thinking":\{"type":"disabled"\}/) }],
  ["openai-compatible", "kimi-k2.6", "moonshot", { off: nothing(/"thinking":\{"type":"disabled"\}/) }],
  ["openai-compatible", "kimi-k3", "moonshot", { off: nothing(/"reasoning_effort":"low"/) }],
  ["openai-compatible", "glm-5", "zai", { off: nothing(/"thinking":\{"type":"disabled"\}/) }],
  ["openai-compatible", "qwen-plus", "qwen", { off: nothing(/"enable_thinking":false/) }],
  ["openai-compatible", "x/y", "openrouter", { off: nothing(/"reasoning_effort":"none"/) }],
  [
    "bedrock",
    "amazon.titan-text",
    null,
    { "cut cache": { dropped: ["cache_control"], lacks: [/cachePoint/] } },
  ],
);

/** The upstream's request, by the same path as a client's. */
function send([kind, name, preset]: Row, dialect: Dialect, body: object) {
  const baseUrl = "https://upstream.example/v1";
  const api = providerKinds[kind].connect({ baseUrl, secret: "secret", preset });
  const model = { name, outputTokensMax: null };
  const upstream = api.apis(model)["chat/completions"];
  const request = dialect.readRequest(Buffer.from(JSON.stringify(body)), bodyLimits);
  const dropped = new Set<string>();
  if (dialect.endpointName === "chat/completions" && upstream.quirks) {
    const bytes = Buffer.concat(dialect.native.buildRequest(request, model, upstream.quirks));
    return { text: bytes.toString(), dropped: [] };
  }
  const built = upstream.buildRequest(
    { ...dialect.toChatRequest(request), stream: request.stream },
    model,
    dropped,
  );
  return { text: JSON.stringify(built), dropped: [...dropped] };
}

for (const row of table) {
  for (const [name, { dialect, base, features }] of Object.entries(bodies)) {
    for (const [feature, { dropped, has = [], lacks = [] }] of Object.entries(row[3])) {
      const more = features[feature as Feature];
      if (more === null) continue;
      const given = "top_k" in more ? dropped : dropped.filter((param) => param !== "top_k");
      for (const stream of [false, true]) {
        test(`${row[0]} ${row[1]} ← ${name}: ${feature}${stream ? ", streamed" : ""}`, (t) => {
          const sent = send(row, dialect, { ...base, ...more, stream });
          t.deepEqual(sent.dropped, given);
          for (const pattern of has) t.regex(sent.text, pattern);
          for (const pattern of lacks) t.notRegex(sent.text, pattern);
        });
      }
    }
  }
}

for (const budget of [1_024, 2_048, 8_000, 16_001]) {
  for (const [kind, name, preset, expected, dropped] of [
    ["bedrock", "us.anthropic.claude-sonnet-4-5", null, `"budget_tokens":${budget}`, []],
    ["bedrock", "us.anthropic.claude-opus-4-6", null, `"budget_tokens":${budget}`, []],
    ["anthropic", "claude-haiku-4-5", null, `"budget_tokens":${budget}`, []],
    ["gemini", "gemini-2.5-flash", null, `"thinkingBudget":${budget}`, []],
    ["openai-compatible", "qwen-plus", "qwen", `"thinking_budget":${budget}`, []],
    ["openai-compatible", "x/y", "openrouter", `"reasoning":{"max_tokens":${budget}}`, []],
    ["anthropic", "claude-opus-5-5", null, '"type":"adaptive"', ["thinking.budget_tokens"]],
    ["bedrock", "us.anthropic.claude-opus-5", null, '"type":"adaptive"', ["thinking.budget_tokens"]],
    ["gemini", "gemini-3.1-pro-preview", null, '"thinkingLevel"', ["thinking.budget_tokens"]],
  ] as const) {
    test(`${kind} ${name}: a budget of ${budget} tokens stays the same, or is named`, (t) => {
      const thinking = { type: "enabled", budget_tokens: budget };
      const sent = send([kind, name, preset, {}], messages, { ...bodies["messages"]?.base, thinking });
      t.true(sent.text.includes(expected), sent.text);
      t.deepEqual(sent.dropped, [...dropped]);
    });
  }
}

for (const display of ["omitted", "summarized"]) {
  for (const [kind, name] of [
    ["bedrock", "us.anthropic.claude-opus-4-7"],
    ["bedrock", "us.anthropic.claude-opus-5"],
    ["anthropic", "claude-opus-5-5"],
  ] as const) {
    test(`${kind} ${name}: thoughts stay ${display}`, (t) => {
      const thinking = { type: "adaptive", display };
      const sent = send([kind, name, null, {}], messages, { ...bodies["messages"]?.base, thinking });
      t.true(sent.text.includes(`"display":"${display}"`), sent.text);
    });
  }
}
