import test from "ava";
import { hostileSchemas } from "../attack/shapes/hostile-schemas.ts";
import { assertError, assertErrorBody, clientError, serverError } from "../helpers/assert-error.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let gateway: TestGateway;
let key: { id: string; value: string };

test.before(async () => {
  gateway = await startTestGateway(shared);
  // Only requests that must time out use this provider.
  const { providers, models } = gateway.admin;
  const timeouts = { idleTimeoutMs: 15_000, totalTimeoutMs: 20_000 };
  const { id: providerId } = await providers.create.mutate({ name: "hurried", kind: "demo", timeouts });
  await models.create.mutate({ slug: hurried, providerId });
  key = await createKey(gateway, [patient, hurried]);
});

type Completion = {
  choices: { index: number; message: { content: string; tool_calls?: ToolCall[] }; finish_reason: string }[];
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
};
type ToolCall = { type: string; function: { name: string; arguments: string } };
type Chunk = { choices: { index: number; delta: { content?: string }; finish_reason: string | null }[] };

const patient = "demo/echo";
const hurried = "hurried/echo";

/** `more` can contain another model. */
const post = (prompt: string, more: object = {}) =>
  postChat(gateway, key.value, chatBody(patient, prompt, more));

async function complete(prompt: string, more: object = {}): Promise<Completion> {
  return JSON.parse((await post(prompt, more)).text) as Completion;
}

async function stream(prompt: string, more: object = {}): Promise<string[]> {
  const { text } = await post(prompt, { stream: true, ...more });
  return text
    .split("\n\n")
    .filter(Boolean)
    .map((event) => event.replace(/^data: /, ""));
}

function contentOf(events: string[], index = 0): string[] {
  return events
    .filter((data) => data.includes('"choices"'))
    .flatMap((data) => (JSON.parse(data) as Chunk).choices)
    .flatMap((choice) => (choice.index === index && choice.delta.content ? choice.delta.content : []));
}

test("the demo echoes its input and counts words as tokens", async (t) => {
  const { choices, usage } = await complete("Hello to  you");
  t.like(choices[0], { index: 0, message: { content: "Hello to  you" }, finish_reason: "stop" });
  t.like(usage, { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 });
});

test("the demo echoes the last user message and counts the whole conversation", async (t) => {
  const { choices, usage } = await complete("", {
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "First" },
      {
        role: "user",
        content: [{ type: "text", text: "Second " }, { type: "image_url" }, { type: "text", text: "one" }],
      },
      { role: "assistant", content: "Yes?" },
    ],
  });
  t.is(choices[0]?.message.content, "Second one");
  t.is(usage.prompt_tokens, 6);
});

test("the demo answers an empty conversation", async (t) => {
  t.is((await complete("")).choices[0]?.message.content, "Hello from demo/echo.");
});

test("the demo streams in several chunks", async (t) => {
  const events = await stream("one two three");
  t.deepEqual(contentOf(events), ["one ", "two ", "three"]);
  t.is(events.at(-1), "[DONE]");
  t.like(JSON.parse(events.at(-2) ?? ""), { choices: [{ finish_reason: "stop" }] });
});

for (const parameter of ["max_tokens", "max_completion_tokens"]) {
  test(`${parameter} truncates the response, which reports it`, async (t) => {
    const { choices, usage } = await complete("one two three", { [parameter]: 2 });
    t.like(choices[0], { message: { content: "one two " }, finish_reason: "length" });
    t.is(usage.completion_tokens, 2);
    t.is((await complete("one two", { [parameter]: 2 })).choices[0]?.finish_reason, "stop");
    const events = await stream("one two three", { [parameter]: 1 });
    t.deepEqual(contentOf(events), ["one "]);
    t.like(JSON.parse(events.at(-2) ?? ""), { choices: [{ finish_reason: "length" }] });
  });
}

test("n returns as many choices", async (t) => {
  const { choices, usage } = await complete("one two", { n: 3 });
  t.deepEqual(
    choices.map(({ index, message }) => [index, message.content]),
    [0, 1, 2].map((index) => [index, "one two"]),
  );
  t.is(usage.completion_tokens, 6);
  const events = await stream("one two", { n: 2 });
  t.deepEqual(contentOf(events, 1), ["one ", "two"]);
});

test("/slow delays each chunk and is not echoed", async (t) => {
  const startedAt = performance.now();
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key.value}` },
    body: JSON.stringify(chatBody("demo/echo", "/slow 500 one two", { stream: true })),
  });
  const arrivedAfter: number[] = [];
  let text = "";
  for await (const bytes of response.body ?? []) {
    arrivedAfter.push(performance.now() - startedAt);
    text += Buffer.from(bytes).toString();
  }
  t.deepEqual(contentOf(text.replaceAll("data: ", "").split("\n\n")), ["one ", "two"]);
  // The delays of the chunks add up to at least 2 s, but timers may fire early.
  t.true((arrivedAfter.at(-1) ?? 0) > 1_900);
  t.true((arrivedAfter[0] ?? Infinity) < (arrivedAfter.at(-1) ?? 0) - 50, "not all at once");
  t.is((await complete("/slow 1 Hello")).choices[0]?.message.content, "Hello");
});

test("/fail fails with the given status", async (t) => {
  const demoFailure = clientError(400, "demo_failure");
  assertError(t, await post("/fail 400"), demoFailure);
  assertError(t, await post("please /fail 418 now"), { ...demoFailure, status: 418 });
  assertError(t, await post("/fail 429", { stream: true }), {
    status: 429,
    type: "requests",
    param: null,
    code: "demo_failure",
    headers: { "retry-after": "1" },
  });
  assertError(t, await post("/fail 403"), serverError(502, "upstream_auth_failed"));
  for (const more of [{}, { stream: true }]) {
    assertError(t, await post("/fail 503", more), serverError(502, "upstream_error"));
  }
});

for (const [order, model, status, code] of [
  ["/break", patient, 502, "upstream_error"],
  ["/hang", hurried, 504, "upstream_timeout"],
] as const) {
  test(`${order} breaks off mid-stream`, async (t) => {
    const error = serverError(status, code);
    assertError(t, await post(`one two three four ${order}`, { model }), error);

    const events = await stream(`one two three four ${order}`, { model });
    t.deepEqual(contentOf(events), ["one ", "two "]);
    const { status: _, ...members } = error;
    assertErrorBody(t, JSON.parse(events.at(-1) ?? ""), members);
  });
}

test("text that only resembles a command is echoed", async (t) => {
  for (const prompt of ["a/break", "/fail 200", "/slow", "/hanging", "http://x/hang"]) {
    t.is((await complete(prompt)).choices[0]?.message.content, prompt);
  }
});

const tools = ["first", "second"].map((name) => ({
  type: "function",
  function: {
    name,
    parameters: {
      type: "object",
      properties: { unit: { enum: ["celsius", "kelvin"] }, days: { type: "integer", minimum: 1 }, extra: {} },
      required: ["unit", "days"],
    },
  },
}));

for (const [title, prompt, choice, name] of [
  ["named", "Hello", { type: "function", function: { name: "second" } }, "second"],
  ["required", "Hello", "required", "first"],
  ["ordered by /tool", "Hello /tool", "auto", "first"],
] as const) {
  test(`a tool that is ${title} is called with arguments that fit its schema`, async (t) => {
    const { choices } = await complete(prompt, { tools, tool_choice: choice });
    t.is(choices[0]?.finish_reason, "tool_calls");
    const [call] = choices[0]?.message.tool_calls ?? [];
    t.like(call, { type: "function", function: { name } });
    t.deepEqual(JSON.parse(call?.function.arguments ?? ""), { unit: "celsius", days: 1 });
  });
}

test("an optional tool is not called", async (t) => {
  const { choices } = await complete("Hello", { tools, tool_choice: "auto" });
  t.like(choices[0], { message: { content: "Hello" }, finish_reason: "stop" });
});

test("a JSON response format returns JSON", async (t) => {
  const { choices } = await complete("Hello", { response_format: { type: "json_object" } });
  t.deepEqual(JSON.parse(choices[0]?.message.content ?? ""), { echo: "Hello" });
});

for (const [name, schema] of Object.entries(hostileSchemas)) {
  test(`a schema with ${name} gets a small sample`, async (t) => {
    const format = { type: "json_schema", json_schema: { name: "deep", schema } };
    const answer = await post("Hi", { response_format: format });
    t.is(answer.status, 200, answer.text);
    t.true(answer.text.length < 400_000, `${answer.text.length} characters`);
    const values = answer.text.match(/\\"demo\\"|null/g)?.length ?? 0;
    t.true(values <= 1_100, `${values} values`);
  });
}

test("a prompt beyond the demo's limit gets 400", async (t) => {
  assertError(t, await post("word ".repeat(60_000)), clientError(400, "prompt_too_long", "messages"));
});

test("the demo obeys its provider's idle timeout", async (t) => {
  const answer = await post("/slow 16000 one two", { model: hurried });
  t.is(answer.status, 504, answer.text);
});

test("the demo obeys its provider's total timeout", async (t) => {
  const { text } = await post(`/slow 5000 ${"word ".repeat(20)}`, { stream: true, model: hurried });
  t.regex(text, /upstream_timeout/);
  t.notRegex(text, /\[DONE\]/);
});
