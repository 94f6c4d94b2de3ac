import { request as sendRequest, type ServerResponse } from "node:http";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import test from "ava";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { postTo } from "../helpers/post-chat.ts";
import { createUpstream, type ScriptedUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let gateway: TestGateway;
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
  await connectUpstream(gateway, upstream, { name: "chat" });
  await connectUpstream(gateway, upstream, { name: "claude", kind: "anthropic" });
  await connectUpstream(gateway, upstream, { name: "gemini", kind: "gemini" });
  const { value } = await createKey(gateway, ["chat/model", "claude/model", "gemini/model"]);
  authorization = `Bearer ${value}`;
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

async function post(path: string, body: object, headers: Record<string, string> = {}) {
  const { status, text } = await postTo(gateway, path, { authorization, ...headers }, body);
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
  const response = await fetch(`${gateway.url}/v1/messages/batches`, { headers: { authorization } });
  t.is(response.status, 404);
  t.like(await response.json(), { type: "error", error: { type: "not_found_error" } });
});

test("Codex's catalog lists the key's models with their context windows", async (t) => {
  const model = await gateway.admin.models.get.query({ slug: "chat/model" });
  await gateway.admin.models.update.mutate({ id: model.id, contextWindow: 200_000 });
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
