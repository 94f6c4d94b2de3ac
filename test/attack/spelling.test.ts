import test from "ava";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { postTo } from "../helpers/post-chat.ts";
import { createUpstream, type ScriptedUpstream } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

// Go's encoding/json ignores the case of member names, so an upstream may use `Model` instead of `model`. The gateway
// must check the model that the upstream uses. https://github.com/golang/go/issues/14750
const shared = sharedByFile();
let gateway: TestGateway;
let upstream: ScriptedUpstream;
let key: string;

test.before(async () => {
  upstream = await createUpstream(shared, ({ url }, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(answers[url.replace("/v1/", "")]));
  });
  gateway = await startTestGateway(shared);
  await connectUpstream(gateway, upstream, { name: "chat" });
  await connectUpstream(gateway, upstream, { name: "claude", kind: "anthropic" });
  await connectUpstream(gateway, upstream, { name: "openai", preset: "openai" });
  key = (await createKey(gateway, ["chat/model", "claude/model", "openai/model"])).value;
});

const answers: Record<string, object> = {
  "chat/completions": { choices: [{ index: 0, message: { role: "assistant", content: "Hi" } }] },
  messages: {
    model: "m",
    content: [],
    stop_reason: "end_turn",
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  "messages/count_tokens": { input_tokens: 1 },
  responses: { model: "m", output: [] },
  embeddings: { model: "m", data: [], usage: { prompt_tokens: 1, total_tokens: 1 } },
};

const messages = [{ role: "user", content: "Hello" }];
const chat = { messages, max_tokens: 10 };

/** Kinds of requests, native and translated, with member names that the gateway reads. */
const ways: [title: string, path: string, body: Record<string, unknown>, names: string[]][] = [
  [
    "chat",
    "chat/completions",
    { model: "chat/model", ...chat },
    ["model", "stream", "stream_options", "messages", "max_tokens", "max_completion_tokens", "n"],
  ],
  [
    "chat, translated",
    "chat/completions",
    { model: "claude/model", ...chat },
    ["model", "stream", "max_tokens"],
  ],
  ["messages", "messages", { model: "claude/model", ...chat }, ["model", "stream", "max_tokens", "thinking"]],
  ["messages, translated", "messages", { model: "chat/model", ...chat }, ["model", "stream", "max_tokens"]],
  ["count_tokens", "messages/count_tokens", { model: "claude/model", messages }, ["model", "messages"]],
  [
    "responses",
    "responses",
    { model: "openai/model", input: "Hello" },
    ["model", "stream", "max_output_tokens", "service_tier", "background"],
  ],
  [
    "responses, translated",
    "responses",
    { model: "chat/model", input: "Hello" },
    ["model", "stream", "max_output_tokens"],
  ],
  ["embeddings", "embeddings", { model: "chat/model", input: "Hello" }, ["model", "input", "dimensions"]],
];

/** Returns the spellings that some decoders accept for a name, each with its text in the error message. */
function spellingsOf(name: string): Map<string, string> {
  const [capital, rest] = [name.slice(0, 1).toUpperCase(), name.slice(1)];
  const escapeOf = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const longS = name.replace("s", "ſ");
  const kelvin = name.replace("k", "\u212a");
  const spellings = new Map([
    [capital + rest, capital + rest],
    [name.toUpperCase(), name.toUpperCase()],
    [escapeOf(name) + rest, escapeOf(name) + rest],
    [escapeOf(capital) + rest, capital + rest],
    [longS, longS.replace("ſ", escapeOf)],
    [kelvin, kelvin.replace("\u212a", escapeOf)],
  ]);
  spellings.delete(name);
  return spellings;
}

async function send(path: string, body: unknown) {
  const answer = await postTo(gateway, `/v1/${path}`, { authorization: `Bearer ${key}` }, body);
  const { error } = JSON.parse(answer.text) as { error?: { message: string } };
  return { status: answer.status, message: error?.message ?? "", error };
}

for (const [title, path, body, names] of ways) {
  for (const name of names) {
    for (const [written, shown] of spellingsOf(name)) {
      test(`${title}: ${JSON.stringify(written)} is rejected as a spelling of ${name}`, async (t) => {
        const whole = JSON.stringify({ ...body, user: t.title });
        for (const text of [
          whole.replace("{", `{"${written}":"dear",`),
          whole.replace(/\}$/, `,"${written}":"dear"}`),
        ]) {
          const { status, message, error } = await send(path, text);
          t.is(status, 400);
          t.is(message, `The parameter '${shown}' is another spelling of '${name}'. Use '${name}'.`);
          if (!path.startsWith("messages")) t.like(error, { code: "invalid_value", param: shown });
        }
      });
    }
  }

  test(`${title}: a member that only resembles a known one passes`, async (t) => {
    const others = {
      "max-tokens": 1,
      maxtokens: 1,
      maxTokens: 1,
      Modell: "x",
      model_: "x",
      "model ": "x",
      ｍodel: "x",
      "m\u0301odel": "x",
      x: { Model: "x", models: ["x"] },
      routes: "x",
    };
    const sent = JSON.stringify({ ...body, ...others, metadata: { user: t.title } });
    const { status, message } = await send(path, sent);
    t.is(status, 200, message);
    const arrived = upstream.requests.find((request) => request.body.includes(t.title))?.body;
    if (!title.includes("translated")) t.is(arrived, sent.replace(String(body["model"]), "upstream-model"));
  });

  test(`${title}: a member that selects another model is rejected by name`, async (t) => {
    for (const name of otherModels) {
      for (const value of [["dear"], "dear", { order: ["dear"] }]) {
        const { status, message } = await send(path, { ...body, [name]: value });
        t.is(status, 400, name);
        t.true(message.startsWith(`The parameter '${name}' can select a model or host`), message);
      }
      t.regex((await send(path, { ...body, [name.toUpperCase()]: ["dear"] })).message, /another spelling/);
      const whole = JSON.stringify(body).replace("{", `{"${name}":["dear"],`);
      t.is((await send(path, whole.replace(/\}$/, `,"${name}":null}`))).status, 200, "the last one counts");
    }
  });
}

const otherModels = [
  "models",
  "route",
  "fallbacks",
  "provider",
  "providerOptions",
  "preset",
  "advisor",
  "context_window_fallbacks",
  "content_policy_fallbacks",
];

for (const name of ["Include_Usage", "INCLUDE_USAGE", "include_uſage"]) {
  test(`chat: ${name} is rejected as a spelling of include_usage`, async (t) => {
    for (const options of [
      { [name]: false },
      { include_usage: true, [name]: false },
      { [name]: false, include_usage: true },
    ]) {
      const body = { ...ways[0]?.[2], stream: true, stream_options: options };
      const { status, message } = await send("chat/completions", body);
      t.is(status, 400);
      t.regex(message, /another spelling of 'include_usage'/);
    }
  });
}

const advisor = { type: "advisor_20260301", name: "advisor", model: "dear" };
const addition = { type: "tool_addition", tool: { type: "tool_definition", definition: advisor } };

const nested: [title: string, more: object, param: string][] = [
  ["chat", { extra_body: { models: ["dear"] } }, "extra_body.models"],
  ["chat", { extra_body: { Models: ["dear"] } }, "extra_body.Models"],
  ["chat", { compound_custom: { models: { answering_model: "dear" } } }, "compound_custom.models"],
  ["chat", { plugins: [{ id: "web" }, { id: "fusion" }] }, "plugins[1]"],
  ["chat", { plugins: [{ id: "x", analysis_models: ["dear"] }] }, "plugins[0].analysis_models"],
  ["chat", { tools: [{ type: "openrouter:subagent" }] }, "tools[0]"],
  ["chat", { tools: [{ type: "x:image", parameters: { model: "dear" } }] }, "tools[0].parameters.model"],
  [
    "messages",
    { messages: [...messages, { role: "system", content: [addition] }] },
    "messages[1].content[0].tool.definition",
  ],
  ["responses", { tools: [{ type: "image_generation", model: "dear" }] }, "tools[0].model"],
  [
    "responses",
    { tools: [{ type: "namespace", name: "n", tools: [{ type: "x", Model: "dear" }] }] },
    "tools[0].tools[0].Model",
  ],
];

for (const [title, more, param] of nested) {
  test(`${title}: ${param} is rejected where it selects another model`, async (t) => {
    const [, path = "", body] = ways.find(([name]) => name === title) ?? [];
    const { status, message } = await send(path, { ...body, ...more });
    t.is(status, 400);
    t.true(message.startsWith(`The parameter '${param}' can select a model or host`), message);
  });
}

for (const title of ["messages", "count_tokens"]) {
  test(`${title}: a tool that calls another model is removed`, async (t) => {
    const [, path = "", body] = ways.find(([name]) => name === title) ?? [];
    const before = upstream.requests.length;
    const image = { type: "image_generation", name: "image", model: "dear" };
    const tools = [advisor, image, { ...advisor, type: "Advisor_x" }];
    t.is((await send(path, { ...body, tools })).status, 200);
    for (const request of upstream.requests.slice(before)) t.notRegex(request.body, /advisor_|dear/i);
  });
}

test("chat: a tool with an argument named model passes", async (t) => {
  const schema = { type: "object", properties: { model: { type: "string" } } };
  for (const tool of [
    { type: "function", function: { name: "f", parameters: schema } },
    { type: "web_search", parameters: schema, model: { type: "string" } },
  ]) {
    t.is((await send("chat/completions", { ...ways[0]?.[2], tools: [tool] })).status, 200);
  }
});

test.after("the upstream receives only the checked model and limit", (t) => {
  t.true(upstream.requests.length > 50);
  for (const { body } of upstream.requests) {
    const names = Object.keys(JSON.parse(body) as object).map(foldAsGo);
    for (const name of ways.flatMap(([, , , read]) => read)) {
      t.true(names.filter((each) => each === name).length <= 1, `${name} twice: ${body}`);
    }
    t.false(body.includes('"dear"'), body);
    t.is(JSON.parse(body).model, "upstream-model");
  }
});

/** Converts `ſ` to `s` and the Kelvin sign to `k`, as Go's case folding does. */
function foldAsGo(name: string): string {
  return name.toUpperCase().toLowerCase();
}
