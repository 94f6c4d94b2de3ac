import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import test from "ava";
import { assertError, clientError } from "../helpers/assert-error.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
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
let key: { id: string; value: string };

test.before(async () => {
  gateway = await startTestGateway(shared);
  key = await createKey(gateway);
});

test("a response returns as the upstream wrote it except for the model's name", async (t) => {
  const upstream = await createUpstream(t, (_request, response) => sendCompletion(response));
  const key = await connectUpstream(gateway, upstream, { name: "whole" });

  const answer = await postChat(gateway, key.value, chatBody("whole/model"));

  t.is(answer.status, 200);
  t.like(JSON.parse(answer.text), { model: "whole/model", choices: [{ message: { content: "Hi!" } }] });
  t.regex(answer.headers.get("x-gateway-overhead-ms") ?? "", /^\d+\.\d\d$/);
  const [record] = await usageOf(gateway, key.id);
  t.like(record, {
    id: answer.headers.get("x-request-id"),
    model: "whole/model",
    provider: "whole",
    upstreamModel: "upstream-model",
    status: "SUCCEEDED",
    httpStatus: 200,
    inputTokens: 5,
    outputTokens: 2,
    stream: false,
  });
});

test("the request reaches the upstream byte for byte except for the model", async (t) => {
  const upstream = await createUpstream(t, (_request, response) => sendCompletion(response));
  const key = await connectUpstream(gateway, upstream);
  const body = `{ "seed":12345678901234567890, "temperature":1.0,\n"messages":[{"role":"user","content":"\\u00e9 é"}], "model" : "test/model" ,"unknown_field":{"model":"x"}}`;

  await postChat(gateway, key.value, body);

  t.is(upstream.requests[0]?.body, body.replace('"test/model"', '"upstream-model"'));
  t.is(upstream.requests[0]?.headers.authorization, "Bearer upstream-secret-0123456789");
});

for (const includeUsage of [false, true]) {
  test(`a stream ends in [DONE], ${includeUsage ? "with the requested usage chunk" : "without a usage chunk"}`, async (t) => {
    const upstream = await createUpstream(t, (_request, response) => {
      beginStream(response);
      response.end(chunkEvent("Hel") + chunkEvent("lo") + usageEvent + doneEvent);
    });
    const key = await connectUpstream(gateway, upstream, { name: `usage-${includeUsage}` });
    const options = { stream: true, ...(includeUsage && { stream_options: { include_usage: true } }) };

    const answer = await postChat(gateway, key.value, chatBody(key.model, "Hello", options));

    const expected = chunkEvent("Hel") + chunkEvent("lo") + (includeUsage ? usageEvent : "") + doneEvent;
    t.is(answer.text, expected.replaceAll("upstream-model-2026", key.model));
    t.is(answer.headers.get("content-type"), "text/event-stream; charset=utf-8");
    t.is(JSON.parse(upstream.requests[0]?.body ?? "{}").stream_options.include_usage, true);
    t.like((await usageOf(gateway, key.id))[0], {
      status: "SUCCEEDED",
      stream: true,
      inputTokens: 5,
      outputTokens: 2,
    });
  });
}

const user = { role: "user", content: "Hello" };

// `errors.test.ts` covers the members that all dialects have.
const missing: [changes: object, param: string][] = [
  [{ messages: [{ content: "Hello" }] }, "messages[0].role"],
  [{ messages: [user, {}] }, "messages[1].role"],
];
for (const [changes, param] of missing) {
  test(`a missing ${param} is named`, async (t) => {
    const answer = await postChat(gateway, key.value, { ...chatBody("demo/echo"), ...changes });
    const message = assertError(t, answer, clientError(400, "missing_required_parameter", param));
    t.true(message.includes(`'${param}'`));
  });
}

const wrongTypes: [changes: object, param: string][] = [
  [{ model: ["demo/echo"] }, "model"],
  [{ messages: "Hello" }, "messages"],
  [{ messages: null }, "messages"],
  [{ messages: [user, "Hello"] }, "messages[1]"],
  [{ messages: [[]] }, "messages[0]"],
  [{ messages: [{ role: 5 }] }, "messages[0].role"],
  [{ messages: [{ role: null, content: "" }] }, "messages[0].role"],
  [{ messages: [user, { role: "user", content: 5 }] }, "messages[1].content"],
  [{ messages: [{ role: "user", content: {} }] }, "messages[0].content"],
  [{ stream: 1 }, "stream"],
  [{ stream_options: true }, "stream_options"],
  [{ top_p: [] }, "top_p"],
  [{ max_tokens: "10" }, "max_tokens"],
  [{ max_tokens: 1.5 }, "max_tokens"],
  [{ max_completion_tokens: {} }, "max_completion_tokens"],
  [{ n: "2" }, "n"],
];
for (const [changes, param] of wrongTypes) {
  test(`${JSON.stringify(changes)} has the wrong type`, async (t) => {
    const answer = await postChat(gateway, key.value, { ...chatBody("demo/echo"), ...changes });
    assertError(t, answer, clientError(400, "invalid_type", param));
  });
}

const wrongValues: [changes: object, param: string][] = [
  [{ messages: [{ role: "robot", content: "Hello" }] }, "messages[0].role"],
  [{ messages: [user, { role: "User", content: "Hello" }] }, "messages[1].role"],
  [{ temperature: 3 }, "temperature"],
  [{ temperature: -0.1 }, "temperature"],
  [{ top_p: 1.01 }, "top_p"],
  [{ frequency_penalty: -2.5 }, "frequency_penalty"],
  [{ presence_penalty: 2.5 }, "presence_penalty"],
  [{ max_tokens: 0 }, "max_tokens"],
  [{ max_tokens: -1 }, "max_tokens"],
  [{ max_completion_tokens: 0 }, "max_completion_tokens"],
  [{ n: 0 }, "n"],
];
for (const [changes, param] of wrongValues) {
  test(`${JSON.stringify(changes)} has the wrong value`, async (t) => {
    const answer = await postChat(gateway, key.value, { ...chatBody("demo/echo"), ...changes });
    assertError(t, answer, clientError(400, "invalid_value", param));
  });
}

const right: object[] = [
  { temperature: 0, top_p: 0, frequency_penalty: -2, presence_penalty: 2 },
  { temperature: 2, top_p: 1, max_tokens: 1 },
  { temperature: null, max_tokens: null, stream: null, stream_options: null, tools: null, n: null },
  { messages: [{ role: "developer", content: "Be brief." }, user] },
  { messages: [{ role: "system", content: [{ type: "text", text: "Be brief." }] }, user] },
  {
    messages: [
      user,
      { role: "assistant", content: null, tool_calls: [] },
      { role: "tool", content: "5", tool_call_id: "1" },
    ],
  },
  {
    messages: [
      { role: "user", content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }] },
    ],
  },
  { metadata: { a: "b" }, unknown_field: [1, { two: 3 }] },
];
for (const changes of right) {
  test(`${JSON.stringify(changes)} is accepted`, async (t) => {
    const answer = await postChat(gateway, key.value, { ...chatBody("demo/echo"), ...changes });
    t.is(answer.status, 200, answer.text);
  });
}

const canary = fileURLToPath(new URL("../../node_modules/compatcanary/src/cli.js", import.meta.url));

type Report = { results: { id: string; status: string; summary: string }[] };

// The profile `chat` tests only chat completions, and `modern` also tests responses.
for (const profile of ["modern", "chat"]) {
  test(`compatcanary, a scanner of OpenAI-style APIs, passes profile ${profile}`, async (t) => {
    const target = ["--base-url", `${gateway.url}/v1`, "--model", "demo/echo"];
    const scan = ["scan", ...target, "--profile", profile, "--format", "json"];
    const { stdout } = await promisify(execFile)(process.execPath, [canary, ...scan], {
      env: { ...process.env, OPENAI_API_KEY: key.value },
    });

    const { results } = JSON.parse(stdout) as Report;
    t.true(results.length >= 5);
    for (const result of results) t.is(result.status, "pass", `${result.id}: ${result.summary}`);
  });
}
