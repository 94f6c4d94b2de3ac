import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ServerResponse } from "node:http";
import test from "ava";
import OpenAI from "openai";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { createUpstream, type ScriptedUpstream } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

// Every upstream answers a question with a tool call, and a tool's result with text.
const shared = sharedByFile();
const clock = { aheadMs: 0 };
const kinds = { chat: "openai-compatible", claude: "anthropic", gemini: "gemini" } as const;
const models = Object.keys(kinds).map((name) => `${name}/model`);
const connected = [...models, "demo/echo"];
let gateway: TestGateway;
let upstream: ScriptedUpstream;

test.before(async () => {
  upstream = await createUpstream(shared, ({ url, body }, response) => {
    const hasResult = /"role":"tool"|"tool_result"|"functionResponse"/.test(body);
    if (url.startsWith("/v1/messages")) return sendJson(response, claudeAnswer(hasResult));
    if (url.includes("generateContent")) return sendJson(response, geminiAnswer(hasResult));
    return sendJson(response, chatAnswer(hasResult));
  });
  const runtime = { now: () => Date.now() + clock.aheadMs };
  gateway = await startTestGateway(shared, { runtime });
  for (const [name, kind] of Object.entries(kinds)) await connectUpstream(gateway, upstream, { name, kind });
});

const tools: OpenAI.Responses.Tool[] = [
  {
    type: "function",
    name: "get_weather",
    strict: false,
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
];

for (const model of models) {
  test.serial(`${model}: a follow-up by previous_response_id contains the conversation`, async (t) => {
    const client = await createClient();
    const first = await client.responses.create({ model, input: `Weather in Paris? ${t.title}`, tools });
    t.like(first, { store: true });
    const [call] = first.output.filter((item) => item.type === "function_call");
    t.truthy(call);
    const second = await client.responses.create({
      model,
      tools,
      previous_response_id: first.id,
      input: [{ type: "function_call_output", call_id: call?.call_id ?? "", output: "sunny" }],
    });
    t.is(second.output_text, "It is sunny.");
    t.is(second.previous_response_id, first.id);
    const third = await client.responses.create({ model, previous_response_id: second.id, input: "Sure?" });
    t.is(third.previous_response_id, second.id);
    const sent = upstream.requests.at(-1)?.body ?? "";
    for (const text of [t.title, "get_weather", "sunny", "It is sunny.", "Sure?"])
      t.true(sent.includes(text), text);
  });

  test.serial(`${model}: an item_reference is replaced by its item`, async (t) => {
    const client = await createClient();
    const question = { role: "user", content: `Weather in Paris? ${t.title}` } as const;
    const first = await client.responses.create({ model, input: [question], tools });
    const [call] = first.output.filter((item) => item.type === "function_call");
    const second = await client.responses.create({
      model,
      tools,
      input: [
        question,
        { type: "item_reference", id: call?.id ?? "" },
        { type: "function_call_output", call_id: call?.call_id ?? "", output: "sunny" },
      ],
    });
    t.is(second.output_text, "It is sunny.");
    t.true(upstream.requests.at(-1)?.body.includes("get_weather"));
  });
}

test.serial("a streamed response can be followed up", async (t) => {
  const client = await createClient();
  const stream = await client.responses.create({
    model: "demo/echo",
    input: "Remember Paris.",
    stream: true,
  });
  let id = "";
  for await (const event of stream) if (event.type === "response.completed") id = event.response.id;
  const kept = await client.responses.retrieve(id);
  t.is(kept.status, "completed");
  const second = await client.responses.create({ model: "demo/echo", input: "?", previous_response_id: id });
  t.is(second.previous_response_id, id);
});

test.serial("a kept response and its input can be read and deleted", async (t) => {
  const client = await createClient();
  const input = [{ role: "user", content: "one" } as const, { role: "user", content: "two" } as const];
  const created = await client.responses.create({ model: "chat/model", input });
  const read = await client.responses.retrieve(created.id);
  t.deepEqual(read.output, created.output);
  const page = await client.responses.inputItems.list(created.id, { order: "asc", limit: 1 });
  t.like(page.data, [{ content: "one" }]);
  t.true(page.has_more);
  const rest = await client.responses.inputItems.list(created.id, {
    order: "asc",
    after: page.data[0]?.id ?? "",
  });
  t.like(rest.data, [{ content: "two" }]);
  await client.responses.delete(created.id);
  await t.throwsAsync(client.responses.retrieve(created.id), { instanceOf: OpenAI.NotFoundError });
});

test.serial("another key gets the errors of an unknown response", async (t) => {
  const [owner, stranger] = [await createClient(), await createClient()];
  const { id, output } = await owner.responses.create({ model: "chat/model", input: "Hi" });
  const notFound = { instanceOf: OpenAI.NotFoundError };
  await t.throwsAsync(stranger.responses.retrieve(id), notFound);
  await t.throwsAsync(stranger.responses.delete(id), notFound);
  await t.throwsAsync(stranger.responses.inputItems.list(id), notFound);
  const itemId = output[0]?.id ?? "";
  const input = [{ type: "item_reference" as const, id: itemId }];
  await t.throwsAsync(stranger.responses.create({ model: "chat/model", input }), notFound);
  const followUp = stranger.responses.create({ model: "chat/model", previous_response_id: id, input: "?" });
  const error = await t.throwsAsync(followUp, { instanceOf: OpenAI.BadRequestError });
  t.like(error, { code: "previous_response_not_found", param: "previous_response_id" });
  t.truthy(await owner.responses.retrieve(id));
});

test.serial("store: false keeps nothing", async (t) => {
  const client = await createClient();
  const response = await client.responses.create({ model: "chat/model", input: "Hi", store: false });
  t.like(response, { store: false });
  await t.throwsAsync(client.responses.retrieve(response.id), { instanceOf: OpenAI.NotFoundError });
});

test.serial("a response is gone an hour after its last use", async (t) => {
  const client = await createClient();
  const { id } = await client.responses.create({ model: "chat/model", input: "Hi" });
  clock.aheadMs += 59 * 60_000;
  t.truthy(await client.responses.retrieve(id));
  clock.aheadMs += 61 * 60_000;
  await t.throwsAsync(client.responses.retrieve(id), { instanceOf: OpenAI.NotFoundError });
  clock.aheadMs = 0;
});

test.serial("a deleted key leaves no response behind", async (t) => {
  const key = await createKey(gateway, connected);
  const client = clientOf(key.value);
  const { id } = await client.responses.create({ model: "chat/model", input: "Hi" });
  t.truthy(gateway.services.keptResponses?.find(key.id, id));
  await gateway.admin.keys.delete.mutate({ id: key.id });
  t.is(gateway.services.keptResponses?.find(key.id, id), null);
});

test.serial("an item that is referenced twice is refused", async (t) => {
  const client = await createClient();
  const { output } = await client.responses.create({ model: "chat/model", input: "Hi" });
  const reference = { type: "item_reference" as const, id: output[0]?.id ?? "" };
  const twice = client.responses.create({ model: "chat/model", input: [reference, reference] });
  await t.throwsAsync(twice, { instanceOf: OpenAI.NotFoundError });
});

test.serial("prompts and answers of kept responses are in no file and no log", async (t) => {
  const client = await createClient();
  const canary = "canary-2b9d1f6e";
  const { id } = await client.responses.create({ model: "chat/model", input: canary });
  const response = await client.responses.inputItems.list(id);
  t.true(JSON.stringify(response.data).includes(canary));
  const folder = gateway.environment["DATA_DIR"] ?? "";
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const contents = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), "latin1")),
  );
  t.true(contents.length > 0);
  t.false([...contents, ...gateway.log].some((text) => text.includes(canary)));
});

test("RESPONSES_STATE=off refuses references and suggests store: false", async (t) => {
  const off = await startTestGateway(t, { environment: { RESPONSES_STATE: "off" } });
  await connectUpstream(off, upstream, { name: "chat" });
  const { value } = await createKey(off, ["chat/model"]);
  const client = new OpenAI({ baseURL: `${off.url}/v1`, apiKey: value, maxRetries: 0 });
  const first = await client.responses.create({ model: "chat/model", input: "Hi" });
  t.like(first, { store: false });
  const followUp = client.responses.create({
    model: "chat/model",
    previous_response_id: first.id,
    input: "?",
  });
  const error = await t.throwsAsync(followUp, { instanceOf: OpenAI.BadRequestError });
  t.regex(error?.message ?? "", /store: false/);
});

async function createClient(): Promise<OpenAI> {
  return clientOf((await createKey(gateway, connected)).value);
}

function clientOf(apiKey: string): OpenAI {
  return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
}

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function chatAnswer(hasResult: boolean): object {
  const call = {
    id: "call_1",
    type: "function",
    function: { name: "get_weather", arguments: '{"city":"Paris"}' },
  };
  const message = hasResult ? { content: "It is sunny." } : { content: null, tool_calls: [call] };
  const finish_reason = hasResult ? "stop" : "tool_calls";
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "upstream-model",
    choices: [{ index: 0, finish_reason, message: { role: "assistant", ...message } }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  };
}

function claudeAnswer(hasResult: boolean): object {
  const call = { type: "tool_use", id: "toolu_1", name: "get_weather", input: { city: "Paris" } };
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "upstream-model",
    content: hasResult ? [{ type: "text", text: "It is sunny." }] : [call],
    stop_reason: hasResult ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 2 },
  };
}

function geminiAnswer(hasResult: boolean): object {
  const part = hasResult
    ? { text: "It is sunny." }
    : { functionCall: { name: "get_weather", args: { city: "Paris" } } };
  return {
    candidates: [{ content: { parts: [part], role: "model" }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 },
  };
}
