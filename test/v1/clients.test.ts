import { request as sendRequest, type ServerResponse } from "node:http";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import test from "ava";
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from "openai";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { postTo } from "../helpers/post-chat.ts";
import { createUpstream, type ScriptedUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let gateway: TestGateway;
let key: { id: string; value: string };
let openai: OpenAI;
let upstream: ScriptedUpstream;
let authorization: string;

test.before(async () => {
  upstream = await createUpstream(shared, ({ url, body }, response) => {
    if (url.includes("generateContent")) return sendJson(response, twoGeminiCalls);
    if (url.startsWith("/v1/messages")) return sendJson(response, refusedThread, 400);
    if (body.includes('"role":"tool"')) return sendCompletion(response, "It is sunny.");
    const { tools } = JSON.parse(body) as { tools?: { function: { name: string } }[] };
    const name = tools?.[0]?.function.name;
    return name === undefined ? sendCompletion(response) : sendJson(response, callOf(name));
  });
  gateway = await startTestGateway(shared);
  key = await createKey(gateway);
  openai = createClient(key.value);
  await connectUpstream(gateway, upstream, { name: "chat" });
  await connectUpstream(gateway, upstream, { name: "claude", kind: "anthropic" });
  await connectUpstream(gateway, upstream, { name: "gemini", kind: "gemini" });
  const { value } = await createKey(gateway, ["chat/model", "claude/model", "gemini/model"]);
  authorization = `Bearer ${value}`;
});

function createClient(apiKey: string): OpenAI {
  return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
}

function ask(content: string) {
  return { model: "demo/echo", messages: [{ role: "user" as const, content }] };
}

test("the SDK lists the models of the key", async (t) => {
  const { data } = await openai.models.list();
  t.deepEqual(
    data.map(({ id, object, owned_by }) => ({ id, object, owned_by })),
    [{ id: "demo/echo", object: "model", owned_by: "demo" }],
  );
});

test("the SDK retrieves a model by its slug, including the slash", async (t) => {
  const model = await openai.models.retrieve("demo/echo");
  t.is(model.id, "demo/echo");
  t.true(Math.abs(model.created * 1000 - Date.now()) < 600_000);
});

test("the SDK completes a chat and returns the request id", async (t) => {
  const completion = await openai.chat.completions.create(ask("Hello, gateway!"));
  t.is(completion.choices[0]?.message.content, "Hello, gateway!");
  t.is(completion.choices[0]?.finish_reason, "stop");
  t.is(completion.model, "demo/echo");
  t.is(completion.usage?.total_tokens, 4);
  const records = await usageOf(gateway, key.id);
  t.true(records.some(({ id }) => id === completion._request_id));
});

const weather = {
  type: "function" as const,
  function: {
    name: "weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

test("the SDK receives a forced tool call, complete and streamed", async (t) => {
  const request = {
    ...ask("What is the weather?"),
    tools: [weather],
    tool_choice: { type: "function" as const, function: { name: "weather" } },
  };
  for (const completion of [
    await openai.chat.completions.create(request),
    await openai.chat.completions.stream(request).finalChatCompletion(),
  ]) {
    const [choice] = completion.choices;
    t.is(choice?.finish_reason, "tool_calls");
    t.like(choice?.message.tool_calls?.[0], {
      type: "function",
      function: { name: "weather", arguments: '{"city":"demo"}' },
    });
  }
});

const failures: [
  title: string,
  attempt: () => Promise<unknown>,
  kind: abstract new (...args: never[]) => APIError,
  expected: { status: number; code: string | null },
][] = [
  [
    "a wrong key is an AuthenticationError",
    () => createClient("sk-wrong").models.list(),
    AuthenticationError,
    { status: 401, code: "invalid_api_key" },
  ],
  [
    "an unknown model is a NotFoundError",
    () => openai.chat.completions.create({ ...ask("Hello"), model: "demo/none" }),
    NotFoundError,
    { status: 404, code: "model_not_found" },
  ],
  [
    "a wrong value is a BadRequestError",
    () => openai.chat.completions.create({ ...ask("Hello"), temperature: 3 }),
    BadRequestError,
    { status: 400, code: "invalid_value" },
  ],
  [
    "an upstream's 429 is a RateLimitError",
    () => openai.chat.completions.create(ask("/fail 429")),
    RateLimitError,
    { status: 429, code: "demo_failure" },
  ],
  [
    "an upstream's 500 is an InternalServerError, 502",
    () => openai.chat.completions.create(ask("/fail 500")),
    InternalServerError,
    { status: 502, code: "upstream_error" },
  ],
  [
    "an upstream's 401 is an InternalServerError too: the key is not to blame",
    () => openai.chat.completions.create(ask("/fail 401")),
    InternalServerError,
    { status: 502, code: "upstream_auth_failed" },
  ],
  [
    "an answer that breaks off is an InternalServerError",
    () => openai.chat.completions.create(ask("one two /break")),
    InternalServerError,
    { status: 502, code: "upstream_error" },
  ],
];
for (const [title, attempt, kind, expected] of failures) {
  test(title, async (t) => {
    const error = await t.throwsAsync<APIError>(attempt, { instanceOf: APIError });
    t.true(error instanceof kind, error.constructor.name);
    t.like(error, expected);
    t.regex(error.requestID ?? "", /^req_/);
  });
}

test("a broken stream throws an APIError after the received chunks", async (t) => {
  const stream = await openai.chat.completions.create({ ...ask("one two three four /break"), stream: true });
  const pieces: string[] = [];
  const error = await t.throwsAsync<APIError>(
    async () => {
      for await (const chunk of stream) pieces.push(chunk.choices[0]?.delta.content ?? "");
    },
    { instanceOf: APIError },
  );
  t.is(pieces.join(""), "one two ");
  t.like(error, { status: undefined, code: "upstream_error", type: "server_error" });
});

const refusedThread = {
  type: "error",
  error: {
    type: "invalid_request_error",
    message: "No thread.",
    details: { error_code: "thread_not_found", unsupported: [], note: `for ${upstreamSecret}` },
  },
};

const callOf = (name: string) => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "upstream-model",
  choices: [
    {
      index: 0,
      finish_reason: "tool_calls",
      message: {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name, arguments: '{"input":"ls"}' } }],
      },
    },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});

const geminiCall = (city: string) => ({ functionCall: { name: "get_weather", args: { city } } });
const twoGeminiCalls = {
  candidates: [
    { content: { parts: [geminiCall("Paris"), geminiCall("Rome")], role: "model" }, finishReason: "STOP" },
  ],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 },
};

function sendJson(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function post(path: string, body: object) {
  const { status, text } = await postTo(gateway, path, { authorization }, body);
  return { status, body: JSON.parse(text) as Record<string, unknown> };
}

test("Anthropic's tool runner continues without a thread where the upstream has none", async (t) => {
  const client = new Anthropic({
    baseURL: gateway.url,
    apiKey: null,
    authToken: authorization.slice("Bearer ".length),
    maxRetries: 0,
  });
  const cities: unknown[] = [];
  const final = await client.beta.messages.toolRunner({
    model: "chat/model",
    max_tokens: 100,
    messages: [{ role: "user", content: "How is the weather in Paris?" }],
    tools: [
      betaTool({
        name: "get_weather",
        inputSchema: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
        description: "The weather of a city.",
        run: ({ input }) => {
          cities.push(input);
          return "sunny";
        },
      }),
    ],
  });
  t.deepEqual(cities, ["ls"]);
  t.like(final.content.at(-1), { type: "text", text: "It is sunny." });
});

test("an Anthropic upstream's error details reach the client without the credential", async (t) => {
  const thread = { type: "continue", previous_message_id: "msg_1" };
  const messages = [{ role: "user", content: "Hi" }];
  const { status, body } = await post("/v1/messages", {
    model: "claude/model",
    max_tokens: 9,
    messages,
    thread,
  });
  t.is(status, 400);
  t.like(body, { error: { details: { error_code: "thread_not_found", unsupported: [] } } });
  t.false(JSON.stringify(body).includes(upstreamSecret));
});

test("LangChain's -1 for unset sampling parameters is left out in translation", async (t) => {
  const before = upstream.requests.length;
  const messages = [{ role: "user", content: "Hi" }];
  const { status } = await post("/v1/messages", {
    model: "chat/model",
    max_tokens: 9,
    top_k: -1,
    top_p: -1,
    messages,
  });
  t.is(status, 200);
  const sent = upstream.requests.slice(before).find(({ body }) => body.includes('"Hi"'));
  t.false(/top_[kp]/.test(sent?.body ?? "top_k"));
});

test("a client that wants one call at a time gets Gemini's first call only", async (t) => {
  const { status, body } = await post("/v1/chat/completions", {
    model: "gemini/model",
    messages: [{ role: "user", content: "The weather in Paris and Rome?" }],
    tools: [{ type: "function", function: { name: "get_weather", parameters: { type: "object" } } }],
    parallel_tool_calls: false,
  });
  t.is(status, 200);
  const [choice] = body["choices"] as { message: { tool_calls: { function: { arguments: string } }[] } }[];
  t.deepEqual(
    choice?.message.tool_calls.map(({ function: { arguments: text } }) => text),
    ['{"city":"Paris"}'],
  );
});

test("Codex's tools within the input reach the upstream, and their calls come back", async (t) => {
  const { status, body } = await post("/v1/responses", {
    model: "chat/model",
    store: false,
    input: [
      {
        type: "additional_tools",
        role: "developer",
        tools: [
          {
            type: "namespace",
            name: "functions",
            description: "",
            tools: [{ type: "custom", name: "exec", description: "Runs JavaScript." }],
          },
        ],
      },
      { type: "message", role: "user", content: [{ type: "input_text", text: "List the files." }] },
    ],
  });
  t.is(status, 200);
  const [call] = body["output"] as object[];
  t.like(call, { type: "custom_tool_call", namespace: "functions", name: "exec", input: "ls" });
});

test("a tool within the input that names another model is refused", async (t) => {
  const { status, body } = await post("/v1/responses", {
    model: "chat/model",
    input: [{ type: "additional_tools", tools: [{ type: "advisor_20260301", model: "other" }] }],
  });
  t.is(status, 400);
  t.like(body, { error: { param: "input[0].tools[0]" } });
});

test("an upgrade to another protocol gets 426 at once", async (t) => {
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { authorization, connection: "Upgrade", upgrade: "h2c" };
    const request = sendRequest(`${gateway.url}/v1/responses`, { headers });
    request.on("response", (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on("error", reject);
    request.end();
  });
  t.is(status, 426);
});

test("an unknown path below /v1/messages answers in Anthropic's format", async (t) => {
  const response = await fetch(`${gateway.url}/v1/messages/batches`, {
    headers: { authorization },
  });
  t.is(response.status, 404);
  t.like(await response.json(), { type: "error", error: { type: "not_found_error" } });
});

test("Codex's catalog lists the key's models with their context windows", async (t) => {
  await gateway.admin.models.update.mutate({ slug: "chat/model", contextWindow: 200_000 });
  const response = await fetch(`${gateway.url}/v1/models?client_version=0.169.0`, {
    headers: { authorization },
  });
  t.is(response.status, 200);
  const { models } = (await response.json()) as { models: { slug: string; context_window: number }[] };
  t.deepEqual(
    models.map(({ slug }) => slug),
    ["chat/model", "claude/model", "gemini/model"],
  );
  t.like(models[0], { context_window: 200_000, tool_mode: null, use_responses_lite: false });
});
