import test, { type ExecutionContext } from "ava";
import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import { WebSocket } from "ws";
import { responses } from "../helpers/client-dialects.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { weatherTool } from "../helpers/responses-client.ts";
import { openSocket, responseOf } from "../helpers/responses-socket.ts";
import { createUpstream, type ScriptedUpstream } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";
import { connectWeather, createWeatherUpstream } from "../helpers/weather-upstream.ts";

// `test/attack/responses-socket.test.ts` covers hostile clients and the shutdown.
const shared = sharedByFile();
let gateway: TestGateway;
let upstream: ScriptedUpstream;
let models: string[];

test.before(async () => {
  upstream = await createWeatherUpstream(shared);
  gateway = await startTestGateway(shared);
  models = await connectWeather(gateway, upstream);
});

const tools = [weatherTool];
const seen = (mark: string) => upstream.requests.flatMap(({ body }) => (body.includes(mark) ? [body] : []));

for (const model of ["chat/model", "claude/model", "gemini/model"]) {
  for (const store of [true, false]) {
    test(`${model}: turns with store: ${store} continue by previous_response_id`, async (t) => {
      const key = await createKey(gateway, models);
      const socket = await openSocket(t, gateway, key.value);
      const mark = `Weather ${model} ${store}`;
      const first = await socket.turn({ model, input: mark, tools, store });
      t.is(first[0]?.type, "response.created");
      const call = responseOf(first);
      t.like(call, { status: "completed", store });
      const call_id = call.output.find(({ type }) => type === "function_call")?.call_id;
      const input = [{ type: "function_call_output", call_id, output: "22 degrees" }];
      const second = responseOf(
        await socket.turn({ model, input, tools, store, previous_response_id: call.id }),
      );
      t.like(second, { previous_response_id: call.id, output: [{ type: "message" }] });
      await socket.turn({ model, input: "And tomorrow?", store, previous_response_id: second.id });
      const [, , last = ""] = seen(mark);
      for (const part of [mark, "Let me look.", "22 degrees", "It is sunny.", "And tomorrow?"]) {
        t.is(last.split(part).length - 1, 1, part);
      }
      const records = await usageOf(gateway, key.id);
      t.deepEqual(
        records.map(({ endpoint, stream, status, inputTokens }) => [endpoint, stream, status, inputTokens]),
        Array.from({ length: 3 }, () => ["responses", true, "SUCCEEDED", 5]),
      );
    });
  }
}

test("a response with store: false is unknown on another connection and over HTTP", async (t) => {
  const key = await createKey(gateway, models);
  const owner = await openSocket(t, gateway, key.value);
  const other = await openSocket(t, gateway, key.value);
  const model = "chat/model";
  const { id } = responseOf(await owner.turn({ model, input: "Mine", store: false }));
  const [error] = await other.turn({ model, input: "Hi", previous_response_id: id });
  t.like(error, {
    type: "error",
    status: 400,
    error: { code: "previous_response_not_found", param: "previous_response_id" },
  });
  t.truthy(error?.headers?.["x-request-id"]);
  const headers = { authorization: `Bearer ${key.value}` };
  t.is((await fetch(`${gateway.url}/v1/responses/${id}`, { headers })).status, 404);
  t.is(responseOf(await other.turn({ model, input: "Still open" })).status, "completed");
});

test("a native upstream gets the whole conversation if it did not store it", async (t) => {
  const native = await createUpstream(t, (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(responses.events("gpt").join(""));
  });
  await connectUpstream(gateway, native, { name: "openai", preset: "openai" });
  const { value } = await createKey(gateway, ["openai/model"]);
  const socket = await openSocket(t, gateway, value);
  const model = "openai/model";
  const first = responseOf(await socket.turn({ model, input: "One", store: false }));
  await socket.turn({ model, input: "Two", store: false, previous_response_id: first.id });
  const sent = JSON.parse(native.requests[1]?.body ?? "") as { input: { content: unknown }[] };
  t.false("previous_response_id" in sent);
  t.deepEqual(sent.input.at(0), { role: "user", content: "One" });
  t.deepEqual(sent.input.at(-1), { role: "user", content: "Two" });
  t.is(sent.input.length, 2 + first.output.length);
  await socket.turn({ model, input: "Three", previous_response_id: "resp_68ab" });
  t.like(JSON.parse(native.requests[2]?.body ?? ""), { input: "Three", previous_response_id: "resp_68ab" });
});

test("generate: false keeps its input for the next turn and calls no model", async (t) => {
  const key = await createKey(gateway, models);
  const socket = await openSocket(t, gateway, key.value);
  const model = "chat/model";
  const warm = await socket.turn({ model, input: "Warm input", generate: false, store: false });
  const { id, output, status } = responseOf(warm);
  t.deepEqual({ output, status }, { output: [], status: "completed" });
  t.is(seen("Warm input").length, 0);
  await socket.turn({ model, input: "Go", store: false, previous_response_id: id });
  t.regex(seen("Warm input")[0] ?? "", /Go/);
  const [refused] = await socket.turn({ model: "chat/other", input: [], generate: false });
  t.like(refused, { type: "error", status: 400, error: { code: "model_not_found" } });
  t.is((await usageOf(gateway, key.id)).length, 1);
});

test("streams run side by side, and one stream's turns in order", async (t) => {
  const { promise: isLet, resolve: letGo } = Promise.withResolvers<void>();
  const slow = await createUpstream(t, async ({ body }, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (body.includes("Wait")) await isLet;
    const choices = [{ index: 0, delta: { content: "Done" }, finish_reason: "stop" }];
    response.end(`data: ${JSON.stringify({ id: "c", choices })}\n\ndata: [DONE]\n\n`);
  });
  await connectUpstream(gateway, slow, { name: "slow" });
  const { value } = await createKey(gateway, ["slow/model"]);
  const socket = await openSocket(t, gateway, value);
  const send = (stream_id: string, input: string) =>
    socket.send({ type: "response.create", model: "slow/model", stream_id, input });
  send("a", "Wait");
  send("a", "After");
  send("b", "Quick");
  const completed = () =>
    socket.frames.flatMap((frame) => (frame.type === "response.completed" ? [frame] : []));
  const firstDone = await socket.until(() => completed()[0]);
  t.is(firstDone.stream_id, "b");
  t.deepEqual(slow.requests.map(({ body }) => /Wait|After|Quick/.exec(body)?.[0]).toSorted(), [
    "Quick",
    "Wait",
  ]);
  letGo();
  await socket.until(() => completed()[2]);
  t.deepEqual(
    completed().map(({ stream_id }) => stream_id),
    ["b", "a", "a"],
  );
  t.true(socket.frames.every(({ stream_id }) => stream_id === "a" || stream_id === "b"));
});

test("errors of a turn are frames, and the connection stays open", async (t) => {
  const { value } = await createKey(gateway, models);
  const socket = await openSocket(t, gateway, value);
  for (const [event, param] of [
    ["not JSON", null],
    [{ type: "response.steer" }, "type"],
    [{ type: "response.create", model: "chat/model", stream_id: 1 }, "stream_id"],
    [{ type: "response.create", input: "Hi" }, "model"],
    [{ type: "response.create", model: "chat/model", input: 7 }, "input"],
  ] as const) {
    const count = socket.frames.length;
    socket.send(event);
    t.like(await socket.until(() => socket.frames[count]), { type: "error", status: 400, error: { param } });
  }
  t.is(responseOf(await socket.turn({ model: "chat/model", input: "Hi" })).status, "completed");
});

/** Begins a turn that the upstream never ends. */
async function openHanging(t: ExecutionContext, name: string) {
  const hanging = await createUpstream(t, (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hm"}}]}\n\n`);
  });
  const key = await connectUpstream(gateway, hanging, { name });
  const socket = await openSocket(t, gateway, key.value);
  socket.send({ type: "response.create", model: key.model, input: "Hi" });
  await socket.until(() => socket.frames.find(({ delta }) => delta === "Hm"));
  return { key, socket };
}

test("a revoked key ends the open turn and the connection", async (t) => {
  const { key, socket } = await openHanging(t, "hanging");
  await gateway.admin.keys.deactivate.mutate({ id: key.id });
  const failed = await socket.until(() => socket.frames.find(({ type }) => type === "response.failed"));
  t.is(failed.response?.status, "failed");
  const [error] = await socket.turn({ model: key.model, input: "Again" });
  t.like(error, { type: "error", status: 401, error: { code: "invalid_api_key" } });
  t.like(await usageOf(gateway, key.id), { length: 1, 0: { status: "FAILED" } });
});

test("a client that closes the connection cancels its turn", async (t) => {
  const { key, socket } = await openHanging(t, "left");
  socket.socket.terminate();
  const [record] = await eventually(async () => {
    const records = await usageOf(gateway, key.id);
    return records.length > 0 && records;
  });
  t.is(record?.status, "CANCELLED");
});

for (const [title, keyValue, path, status] of [
  ["without a key", null, "/v1/responses", 401],
  ["with a foreign key", "sk-other", "/v1/responses", 401],
  ["of another path", null, "/v1/chat/completions", 426],
] as const) {
  test(`an upgrade ${title} gets ${status} in the usual form`, async (t) => {
    const headers = keyValue === null ? {} : { authorization: `Bearer ${keyValue}` };
    const socket = new WebSocket(`${gateway.url.replace("http", "ws")}${path}`, { headers });
    const response = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      socket.on("error", reject);
      socket.on("unexpected-response", (_request, incoming) => {
        let text = "";
        incoming.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
        incoming.on("end", () => resolve({ status: incoming.statusCode, text }));
      });
    });
    t.is(response.status, status);
    t.like(JSON.parse(response.text), { error: { type: "invalid_request_error" } });
  });
}

test("OpenAI's SDK holds a conversation over a WebSocket", async (t) => {
  const { value } = await createKey(gateway, models);
  const client = new OpenAI({ apiKey: value, baseURL: `${gateway.url}/v1` });
  const socket = new ResponsesWS(client);
  t.teardown(() => socket.close());
  const ask = (body: object) =>
    new Promise<OpenAI.Responses.Response>((resolve, reject) => {
      socket.once("error", reject);
      socket.once("response.completed", ({ response }) => resolve(response));
      socket.send({ type: "response.create", model: "claude/model", store: false, ...body });
    });
  const first = await ask({ input: "SDK weather", tools });
  const call = first.output.find((item) => item.type === "function_call");
  const result = { type: "function_call_output", call_id: call?.call_id, output: "22 degrees" };
  const second = await ask({ input: [result], tools, previous_response_id: first.id });
  t.like(second.output, [{ type: "message", content: [{ text: "It is sunny." }] }]);
});

test("a turn ends even if the upstream's last event is invalid JSON", async (t) => {
  const native = await createUpstream(t, (_request, response) => {
    const invalid = responses
      .events("gpt")
      .join("")
      .replace('"type":"response.completed"', '$&,"logprob":-Infinity');
    response.writeHead(200, { "content-type": "text/event-stream" }).end(invalid);
  });
  const key = await connectUpstream(gateway, native, { name: "infinite", preset: "openai" });
  const { socket, send } = await openSocket(t, gateway, key.value);
  // The helper would parse the frames.
  socket.removeAllListeners("message");
  // Turns of one stream run one after another, so the second one needs the end of the first.
  const turn = {
    type: "response.create",
    model: "infinite/model",
    input: "Hi",
    store: false,
    stream_id: "s",
  };
  for (let count = 0; count < 2; count++) send(turn);
  await eventually(() => native.requests.length === 2);
  t.pass();
});
