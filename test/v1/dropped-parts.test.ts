import test from "ava";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { postTo } from "../helpers/post-chat.ts";
import {
  beginStream,
  chunkEvent,
  createUpstream,
  doneEvent,
  sendCompletion,
  usageEvent,
} from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let gateway: TestGateway;
/** Tests run at the same time, so each finds its own body. */
const claudeBodies: string[] = [];
const claudeAnswer = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "upstream-model",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 2 },
};

const claudeStream = [
  { type: "message_start", message: { ...claudeAnswer, content: [], stop_reason: null } },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join("");

test.before(async () => {
  const upstream = await createUpstream(shared, ({ url, body }, response) => {
    if (url === "/v1/messages") {
      claudeBodies.push(body);
      if (body.includes('"stream":true')) {
        beginStream(response);
        return void response.end(claudeStream);
      }
      response.writeHead(200, { "content-type": "application/json" });
      return void response.end(JSON.stringify(claudeAnswer));
    }
    if (!body.includes('"stream":true')) return sendCompletion(response);
    beginStream(response);
    response.end(`${chunkEvent("Hi")}${usageEvent}${doneEvent}`);
  });
  gateway = await startTestGateway(shared);
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
  const sent = claudeBodies.find((each) => each.includes(futureTool.name)) ?? "{}";
  t.deepEqual((JSON.parse(sent) as { tools?: unknown }).tools, [search, futureTool]);
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
