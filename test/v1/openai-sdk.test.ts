import test from "ava";
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from "openai";
import { eventually } from "../helpers/eventually.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let gateway: TestGateway;
let key: { id: string; value: string };
let openai: OpenAI;

test.before(async () => {
  gateway = await startTestGateway(shared);
  key = await createKey(gateway);
  openai = createClient(key.value);
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

test("the SDK streams a chat", async (t) => {
  const stream = await openai.chat.completions.create({ ...ask("one two three"), stream: true });
  const pieces: string[] = [];
  let finishReason: string | null = null;
  for await (const chunk of stream) {
    t.is(chunk.model, "demo/echo");
    t.falsy(chunk.usage, "nobody asked for it");
    pieces.push(chunk.choices[0]?.delta.content ?? "");
    finishReason = chunk.choices[0]?.finish_reason ?? finishReason;
  }
  t.deepEqual(pieces.filter(Boolean), ["one ", "two ", "three"]);
  t.is(finishReason, "stop");
});

test("the SDK receives the usage in the last chunk on request", async (t) => {
  const options = { stream: true as const, stream_options: { include_usage: true } };
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  const stream = await openai.chat.completions.create({ ...ask("one two three"), ...options });
  for await (const chunk of stream) chunks.push(chunk);
  const last = chunks.pop();
  t.deepEqual(last?.choices, []);
  t.like(last?.usage, { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 });
  t.true(chunks.every((chunk) => chunk.usage === null || chunk.usage === undefined));
});

test("the SDK reassembles a stream", async (t) => {
  const stream = openai.chat.completions.stream(ask("one two three"));
  const completion = await stream.finalChatCompletion();
  t.is(completion.choices[0]?.message.content, "one two three");
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

test("the SDK receives a response that fits a JSON schema", async (t) => {
  const schema = { type: "object", properties: { answer: { type: "integer" } }, required: ["answer"] };
  const completion = await openai.chat.completions.create({
    ...ask("What is the answer?"),
    response_format: { type: "json_schema", json_schema: { name: "answer", schema } },
  });
  t.deepEqual(JSON.parse(completion.choices[0]?.message.content ?? ""), { answer: 0 });
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

test("an abort mid-stream ends the request, which is recorded as cancelled", async (t) => {
  const own = await createKey(gateway);
  const stream = await createClient(own.value).chat.completions.create({
    ...ask("/slow 50 one two three four five six seven eight nine ten"),
    stream: true,
  });
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content === "two ") break;
  stream.controller.abort();

  const records = await eventually(async () => {
    const found = await usageOf(gateway, own.id);
    return found.length > 0 && found;
  });
  t.is(records.length, 1);
  t.like(records[0], { status: "CANCELLED", httpStatus: 200, stream: true, model: "demo/echo" });
});
