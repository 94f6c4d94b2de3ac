import test from "ava";
import OpenAI from "openai";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { postTo } from "../helpers/post-chat.ts";
import { answerChat, createUpstream, type ScriptedUpstream } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";
import { anthropicAnswer, sendAnswer } from "../helpers/vendor-answers.ts";

const shared = sharedByFile();
let gateway: TestGateway;
let upstream: ScriptedUpstream;

test.before(async () => {
  upstream = await createUpstream(shared, (request, response) => {
    const { url } = request;
    if (url === "/v1/chat/completions") return answerChat(request, response, "Paris is sunny.");
    if (url === "/v1/messages") return sendAnswer(request, response, anthropicAnswer("end_turn"));
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(answers[url] ?? nativeResponse));
  });
  gateway = await startTestGateway(shared);
  await connectUpstream(gateway, upstream, { name: "openai", preset: "openai" });
  await connectUpstream(gateway, upstream, { name: "chat" });
  await connectUpstream(gateway, upstream, { name: "claude", kind: "anthropic" });
  await connectUpstream(gateway, upstream, {
    name: "opus",
    kind: "anthropic",
    upstreamModel: "claude-opus-5-5",
  });
});

const messagesBody = {
  model: "chat/model",
  max_tokens: 9,
  messages: [{ role: "user", content: "Hi" }],
  mcp_servers: [{ type: "url", name: "docs", url: "https://docs.example.com" }],
  context_management: { edits: [] },
  tools: [
    { type: "web_search_20250305", name: "web_search" },
    { name: "get_weather", input_schema: { type: "object" } },
  ],
};
const responsesBody = {
  model: "chat/model",
  store: false,
  input: "Hi",
  truncation: "disabled",
  tools: [{ type: "web_search" }, { type: "file_search", vector_store_ids: ["vs_1"] }],
};

for (const stream of [false, true]) {
  for (const [path, body, dropped] of [
    ["/v1/messages", messagesBody, "mcp_servers, context_management, tools.web_search_20250305"],
    ["/v1/responses", responsesBody, "tools.web_search, tools.file_search"],
    ["/v1/messages", { ...messagesBody, tools: [], mcp_servers: null, context_management: null }, null],
  ] as const) {
    test(`${path}${stream ? ", streamed" : ""}: the header and the record name ${dropped ?? "nothing"}`, async (t) => {
      const key = await createKey(gateway, ["chat/model"]);
      const { status, headers } = await post(key.value, path, { ...body, stream });
      t.is(status, 200);
      t.is(headers.get("x-gateway-dropped"), dropped);
      const [record] = await usageOf(gateway, key.id);
      t.is(record?.dropped, dropped);
    });
  }
}

for (const stream of [false, true]) {
  for (const [path, body, dropped] of [
    [
      "/v1/chat/completions",
      { messages: [{ role: "user", content: "Hi" }] },
      "tool_choice, temperature, top_p",
    ],
    ["/v1/responses", { input: "Hi", store: false }, "tool_choice, temperature, top_p"],
  ] as const) {
    test(`${path}${stream ? ", streamed" : ""}: parameters that the model rejects are named`, async (t) => {
      const key = await createKey(gateway, ["opus/model"]);
      const fn = { name: "f", parameters: { type: "object" } };
      const tool =
        path === "/v1/responses" ? { type: "function", ...fn } : { type: "function", function: fn };
      const more = { tools: [tool], tool_choice: "required", temperature: 0.1, top_p: 0.5, stream };
      const { status, headers } = await post(key.value, path, { model: "opus/model", ...body, ...more });
      t.is(status, 200);
      t.is(headers.get("x-gateway-dropped"), dropped);
      const [record] = await usageOf(gateway, key.id);
      t.is(record?.dropped, dropped);
    });
  }
}

const futureTool = { type: "telescope_20270101", name: "telescope", lens: { focus: 1.5 } };

test("a native request keeps a new tool type and loses a tool that calls a model", async (t) => {
  const key = await createKey(gateway, ["claude/model"]);
  const advisor = { type: "advisor_20260301", name: "advisor", model: "other" };
  const search = { type: "web_search_20250305", name: "web_search" };
  const { context_management: _dropped, ...body } = messagesBody;
  const { status, headers } = await post(key.value, "/v1/messages", {
    ...body,
    model: "claude/model",
    tools: [advisor, search, futureTool],
  });
  t.is(status, 200);
  t.is(headers.get("x-gateway-dropped"), "tools.advisor_20260301");
  const sent = upstream.requests.find(
    ({ url, body: each }) => url === "/v1/messages" && each.includes(futureTool.name),
  );
  t.deepEqual((JSON.parse(sent?.body ?? "{}") as { tools?: unknown }).tools, [search, futureTool]);
  const [record] = await usageOf(gateway, key.id);
  t.is(record?.dropped, "tools.advisor_20260301");
});

test("a new tool type is dropped and named for other models", async (t) => {
  const key = await createKey(gateway, ["chat/model"]);
  const { status, headers } = await post(key.value, "/v1/messages", { ...messagesBody, tools: [futureTool] });
  t.is(status, 200);
  t.is(headers.get("x-gateway-dropped"), "mcp_servers, context_management, tools.telescope_20270101");
});

test("a tool type of odd characters is named without them", async (t) => {
  const key = await createKey(gateway, ["chat/model"]);
  const tools = [{ type: "web\r\nx-injected: 1", name: "x" }, { type: "y".repeat(65) }];
  const { status, headers } = await post(key.value, "/v1/messages", { ...messagesBody, tools });
  t.is(status, 200);
  t.is(headers.get("x-gateway-dropped"), "mcp_servers, context_management, tools");
});

test("many dropped tools fit the record", async (t) => {
  const key = await createKey(gateway, ["chat/model"]);
  const tools = Array.from({ length: 100 }, (_, index) => ({ type: `hosted_tool_of_the_year_${index}` }));
  const { headers } = await post(key.value, "/v1/responses", { ...responsesBody, tools });
  const [record] = await usageOf(gateway, key.id);
  t.is(record?.dropped, headers.get("x-gateway-dropped"));
  t.true((record?.dropped?.length ?? 0) <= 255);
});

for (const [path, body, param] of [
  ["/v1/responses", { input: "Hi", include: ["message.output_text.logprobs"] }, "include"],
  ["/v1/chat/completions", { messages: [{ role: "user", content: "Hi" }], logprobs: true }, "logprobs"],
] as const) {
  test(`${path}: a rejection uses the client's name, ${param}`, async (t) => {
    const key = await createKey(gateway, ["claude/model"]);
    const { status, text } = await post(key.value, path, { model: "claude/model", store: false, ...body });
    t.is(status, 400);
    const { error } = JSON.parse(text) as { error: { param: string; message: string } };
    t.is(error.param, param);
    t.true(error.message.includes(`'${param}'`));
  });
}

function post(keyValue: string, path: string, body: object) {
  return postTo(gateway, path, { authorization: `Bearer ${keyValue}` }, body);
}

const usage = { input_tokens: 7, output_tokens: 3, total_tokens: 10 };
const nativeCompaction = {
  id: "resp_1",
  object: "response.compaction",
  created_at: 1,
  output: [{ id: "cmp_1", type: "compaction", encrypted_content: "gAAA" }],
  usage,
};
const nativeResponse = {
  id: "resp_2",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "upstream-model",
  output: [],
  usage,
};

const answers: Record<string, object> = {
  "/v1/responses/compact": nativeCompaction,
  "/v1/responses/input_tokens": { object: "response.input_tokens", input_tokens: 7 },
};

const conversation: OpenAI.Responses.ResponseInput = [
  { role: "user", content: "The weather in Paris?" },
  { type: "function_call", call_id: "call_1", name: "get_weather", arguments: '{"city":"Paris"}' },
  { type: "function_call_output", call_id: "call_1", output: "sunny" },
];

test.serial("a translated conversation becomes its user messages and a summary", async (t) => {
  const { client, id } = await createClient();
  const compacted = await client.responses.compact({ model: "chat/model", input: conversation });
  t.is(compacted.object, "response.compaction");
  const content = [{ type: "input_text", text: "The weather in Paris?" }];
  t.like(compacted.output, [
    { type: "message", status: "completed", role: "user", content },
    { type: "compaction" },
  ]);
  const sent = upstream.requests.at(-1)?.body ?? "";
  for (const text of ["get_weather", "sunny"]) t.true(sent.includes(text));
  t.like(await usageOf(gateway, id), [
    { endpoint: "responses/compact", status: "SUCCEEDED", inputTokens: 5 },
  ]);
});

for (const model of ["chat/model", "openai/model"]) {
  test.serial(`${model}: a summary of this gateway is readable in the next request`, async (t) => {
    const { client } = await createClient();
    const { output } = await client.responses.compact({ model: "chat/model", input: conversation });
    const input = [...output, { role: "user", content: "And now?" }] as OpenAI.Responses.ResponseInput;
    await client.responses.create({ model, input, store: false });
    const sent = upstream.requests.at(-1)?.body ?? "";
    t.true(sent.includes("Summary of the conversation so far:\\nParis is sunny."), sent);
  });
}

test.serial("an upstream that compacts gets the request, and its answer passes unchanged", async (t) => {
  const { client, id } = await createClient();
  const compacted = await client.responses.compact({ model: "openai/model", input: conversation });
  t.like(compacted, nativeCompaction);
  t.is(upstream.requests.at(-1)?.url, "/v1/responses/compact");
  t.is(JSON.parse(upstream.requests.at(-1)?.body ?? "{}").model, "upstream-model");
  t.like(await usageOf(gateway, id), [{ inputTokens: 7, outputTokens: 3 }]);
});

test.serial("an earlier response can be compacted", async (t) => {
  const { client } = await createClient();
  const { id } = await client.responses.create({ model: "chat/model", input: "Remember the number 42." });
  await client.responses.compact({ model: "chat/model", previous_response_id: id, input: [] });
  t.true(upstream.requests.at(-1)?.body.includes("42"));
});

test.serial("input tokens are counted by OpenAI, and estimated for other providers", async (t) => {
  const { client, id } = await createClient();
  const counted = await client.responses.inputTokens.count({ model: "openai/model", input: conversation });
  t.is(counted.input_tokens, 7);
  const estimated = await client.responses.inputTokens.count({ model: "chat/model", input: conversation });
  t.is(estimated.object, "response.input_tokens");
  t.true(estimated.input_tokens > 10);
  t.deepEqual(await usageOf(gateway, id), []);
});

async function createClient(): Promise<{ client: OpenAI; id: string }> {
  const { id, value } = await createKey(gateway, ["chat/model", "openai/model"]);
  return { id, client: new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: value, maxRetries: 0 }) };
}
