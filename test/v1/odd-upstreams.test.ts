import test from "ava";
import { assertError, clientError } from "../helpers/assert-error.ts";
import { clientDialects, messages, responses } from "../helpers/client-dialects.ts";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { chatBody, postChat, postTo } from "../helpers/post-chat.ts";
import { createPromptedUpstream, type PromptedUpstream } from "../helpers/prompted-upstream.ts";
import { beginStream, chunkEvent, doneEvent } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

// An exception while the gateway reads an invalid response must not end the process.
const shared = sharedByFile();
let gateway: TestGateway;
let upstream: PromptedUpstream;

test.before(async () => {
  upstream = await createPromptedUpstream(shared);
  gateway = await startTestGateway(shared);
  await connectUpstream(gateway, upstream, { name: "chat" });
  for (const { name, provider } of clientDialects)
    await connectUpstream(gateway, upstream, { name, ...provider });
});

/** Sends a request that the upstream answers with `sent`. */
async function send(path: "messages" | "responses", body: object, sent: string) {
  const prompt = `prompt ${(promptCount += 1)}`;
  upstream.scripts.set(prompt, (response) => {
    if (sent.startsWith("data:")) beginStream(response);
    else response.writeHead(200, { "content-type": "application/json" });
    response.end(sent);
  });
  const { model, ...more } = body as { model: string };
  const key = await createKey(gateway, [model]);
  const dialect = path === "messages" ? messages : responses;
  const headers = { authorization: `Bearer ${key.value}` };
  const answer = await postTo(gateway, `/v1/${path}`, headers, dialect.body(model, prompt, more));
  const [record] = await usageOf(gateway, key.id);
  return { answer, record, seen: upstream.seen(prompt) };
}
let promptCount = 0;

for (const [title, values] of [
  ["two million small values", "{},".repeat(2_000_000)],
  [
    "values nested 100,000 levels deep",
    `${"[".repeat(100_000)}${"]".repeat(100_000)},${" ".repeat(300_000)}`,
  ],
]) {
  test(`a translated answer with ${title} is rejected`, async (t) => {
    const sent = `{"choices":[],"more":[${values}0]}`;
    const { answer, record } = await send("messages", { model: "chat/model" }, sent);
    t.is(answer.status, 502);
    t.regex(answer.text, /too complex/);
    t.like(record, { status: "FAILED", errorReason: "answer_too_long" });
  });
}

test("a probability of -Infinity passes, as does the requested usage", async (t) => {
  const chunk = `{"id":"x","model":"x","choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":{"content":[{"logprob":-Infinity}]}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`;
  upstream.scripts.set("-Infinity", (response) => {
    beginStream(response);
    response.end(`data: ${chunk}\n\n${doneEvent}`);
  });
  const key = await createKey(gateway, ["chat/model"]);
  const asked = { stream: true, stream_options: { include_usage: true } };
  const answer = await postChat(gateway, key.value, chatBody("chat/model", "-Infinity", asked));
  const [first, usage, ...rest] = answer.text.split("\n\n");
  t.is(first, `data: ${chunk.replace('"model":"x"', '"model":"chat/model"')}`);
  t.deepEqual(JSON.parse(usage?.slice("data: ".length) ?? ""), {
    id: "x",
    model: "chat/model",
    choices: [],
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  });
  t.deepEqual(rest, ["data: [DONE]", ""]);
  t.like((await usageOf(gateway, key.id))[0], { status: "SUCCEEDED", inputTokens: 1, outputTokens: 2 });
});

for (const dialect of clientDialects) {
  test(`${dialect.name}, native: malformed counts are omitted`, async (t) => {
    const odd = dialect.answer("upstream-model").replace(/"input_tokens":\d+/, '"input_tokens":NaN');
    const { answer, record } = await send(dialect.name, { model: `${dialect.name}/model` }, odd);
    t.is(answer.status, 200, answer.text);
    t.is(answer.text, odd.replace("upstream-model", `${dialect.name}/model`));
    t.like(record, { status: "SUCCEEDED", estimated: true });
  });
}

test("an error whose message is not a text is handled", async (t) => {
  const prompt = "an error whose message is no text";
  upstream.scripts.set(prompt, (response) => {
    response.writeHead(400, { "content-type": "application/json" });
    response.end('{"type":"error","error":{"type":"invalid_request_error","message":{"toString":null}}}');
  });
  const key = await createKey(gateway, ["messages/model"]);
  const headers = { authorization: `Bearer ${key.value}` };
  const answer = await postTo(gateway, "/v1/messages", headers, messages.body("messages/model", prompt));
  messages.assertError(t, answer, clientError(400, null));
});

const deep = "[".repeat(8_000) + "]".repeat(8_000);

for (const stream of [false, true]) {
  const how = stream ? "streamed" : "whole";
  const name = stream ? "delta" : "message";

  const answerWith = (said: object | undefined, finishReason: string | null = "stop", more = {}): string => {
    const choice = { index: 0, ...(said && { [name]: said }), finish_reason: finishReason, ...more };
    const answer = JSON.stringify({ id: "x", created: 1, model: "m", choices: [choice] });
    return stream ? `${chunkEvent("Hel")}data: ${answer}\n\n${doneEvent}` : answer;
  };
  const askBoth = async (sent: string, more: Partial<Record<"messages" | "responses", object>> = {}) => {
    const ask = async (path: "messages" | "responses") =>
      (await send(path, { model: "chat/model", stream, ...more[path] }, sent)).answer.text;
    return { messages: await ask("messages"), responses: await ask("responses") };
  };

  test(`deeply nested arguments are handled, ${how}`, async (t) => {
    const call = {
      index: 0,
      id: "c1",
      function: { name: "local_shell", arguments: `{"command":[${deep}]}` },
    };
    const sent = answerWith({ tool_calls: [call] }, "tool_calls");
    const tools = [{ type: "local_shell" }];
    const { answer, record } = await send("responses", { model: "chat/model", stream, tools }, sent);
    t.is(answer.status, 200, answer.text);
    t.regex(answer.text, /"type":"local_shell_call".*"command":\[\]/);
    t.is(record?.status, "SUCCEEDED");
  });

  test(`text and thoughts in parts, as Mistral sends them, are read, ${how}`, async (t) => {
    const parts = [
      { type: "thinking", thinking: [{ type: "text", text: "I wonder." }] },
      { type: "text", text: "I know." },
    ];
    const answers = await askBoth(answerWith({ content: parts }), {
      messages: { thinking: { type: "adaptive" } },
    });
    for (const text of Object.values(answers)) t.regex(text, /I wonder\..*I know\./s);
  });

  test(`arguments as an object are read, ${how}`, async (t) => {
    const call = { index: 0, id: "c1", function: { name: "f", arguments: { city: "Oslo" } } };
    const answers = await askBoth(answerWith({ tool_calls: [call] }, "tool_calls"));
    for (const text of Object.values(answers)) t.regex(text, /city\\?":\\?"Oslo/);
  });

  test(`a call without arguments is read, ${how}`, async (t) => {
    const call = { index: 0, id: "c1", type: "function", function: { name: "now" } };
    const answers = await askBoth(answerWith({ tool_calls: [call] }, "tool_calls"));
    t.regex(answers.messages, /"tool_use".*"stop_reason":"tool_use"/s);
    t.regex(answers.responses, /"type":"function_call".*"status":"completed"/s);
  });

  for (const finishReason of ["error", "insufficient_system_resource"]) {
    test(`the finish reason ${finishReason} is a failure, ${how}`, async (t) => {
      const sent = answerWith({ content: "lo" }, finishReason, {
        error: { message: `No memory for ${upstreamSecret}.` },
      });
      for (const path of ["messages", "responses"] as const) {
        const { answer, record } = await send(path, { model: "chat/model", stream }, sent);
        t.is(answer.status, stream ? 200 : 502);
        t.true(answer.text.includes("No memory for [key removed]."), answer.text);
        t.like(record, { status: "FAILED", errorReason: "reported_error" });
      }
    });
  }

  test(`Mistral's reason for a full context is read, ${how}`, async (t) => {
    const answers = await askBoth(answerWith({ content: "lo" }, "model_length"));
    t.regex(answers.messages, /"stop_reason":"max_tokens"/);
    t.regex(answers.responses, /"status":"incomplete"/);
  });
}

test("a chunk without a delta, as Azure's filter sends it, is accepted", async (t) => {
  const filter = `data: {"choices":[{"index":0,"finish_reason":null,"content_filter_offsets":{"check_offset":1}}]}\n\n`;
  const sent = `${chunkEvent("Hel")}${filter}${chunkEvent("lo")}${doneEvent}`;
  for (const path of ["messages", "responses"] as const) {
    const { answer, record } = await send(path, { model: "chat/model", stream: true }, sent);
    t.true(
      answer.text.includes(`event: ${(path === "messages" ? messages : responses).endEvent}`),
      answer.text,
    );
    t.is(record?.status, "SUCCEEDED");
  }
});

test("a background response is rejected, since it could not be fetched later", async (t) => {
  const body = { model: "responses/model", background: true };
  const { answer, seen } = await send("responses", body, "{}");
  assertError(t, answer, clientError(400, "unsupported_parameter", "background"));
  t.deepEqual(seen, []);
  const stream = responses.events("upstream-model").join("");
  const streamed = await send("responses", { ...body, stream: true }, `data: \n\n${stream}`);
  t.like(streamed.record, { status: "SUCCEEDED", inputTokens: 10 });
});
