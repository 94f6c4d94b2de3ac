import type { ServerResponse } from "node:http";
import test, { type ExecutionContext } from "ava";
import { assertError, assertErrorBody, clientError, serverError } from "../helpers/assert-error.ts";
import { type ClientDialect, clientDialects, messages, responses } from "../helpers/client-dialects.ts";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { type Answer, chatBody, postChat, postTo } from "../helpers/post-chat.ts";
import { createPromptedUpstream, type PromptedUpstream } from "../helpers/prompted-upstream.ts";
import { beginStream, chunkEvent, doneEvent, usageEvent } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let gateway: TestGateway;
let upstream: PromptedUpstream;
let key: { id: string; value: string };

test.before(async () => {
  upstream = await createPromptedUpstream(shared);
  gateway = await startTestGateway(shared);
  key = await connectUpstream(gateway, upstream, { idleTimeoutMs });
  await connectUpstream(gateway, upstream, { name: "chat", idleTimeoutMs });
  for (const { name, provider } of clientDialects)
    await connectUpstream(gateway, upstream, { name, ...provider, idleTimeoutMs });
});

/** On a busy machine, an event may take seconds. */
const idleTimeoutMs = 15_000;

const begun = chunkEvent("Hel") + chunkEvent("lo");

// `test/upstream/faults.test.ts` covers the other ends of chat completions.
const endings: [title: string, end: (response: ServerResponse) => void][] = [
  ["an end after the usage", (response) => response.end(usageEvent)],
  [
    "an error event",
    (response) =>
      response.write(`data: {"error":{"message":"Overloaded by ${upstreamSecret}.","code":500}}\n\n`),
  ],
];
for (const [title, end] of endings) {
  test(`${title} mid-stream becomes an error event without [DONE]`, async (t) => {
    upstream.scripts.set(title, (response) => {
      beginStream(response);
      response.write(begun, () => end(response));
    });

    const answer = await postChat(gateway, key.value, chatBody("test/model", title, { stream: true }));

    t.is(answer.status, 200);
    const received = begun.replaceAll("upstream-model-2026", "test/model");
    t.true(answer.text.startsWith(received), "what came before is there");
    const events = answer.text.slice(received.length).split("\n\n");
    t.is(events.pop(), "", "the last event is whole");
    const last = events.pop() ?? "";
    const { status: _, ...members } = serverError(200, "upstream_error");
    assertErrorBody(t, JSON.parse(last.replace(/^data: /, "")), members);
    t.false(answer.text.includes("[DONE]"));
    t.false(answer.text.includes(upstreamSecret), "our own credential is not shown");
  });
}

// The remaining tests cover the dialects messages and responses.
const upstreamName = "its-own-name-2026";

type Written = {
  begun: string;
  /** The events between `begun` and `end`. */
  rest: string;
  end: string;
  error: string;
  /** Malformed events, each of which must fail the stream. */
  garbage: string[];
};

function writtenByChat(): Written {
  return {
    begun: chunkEvent("Hel") + chunkEvent("lo"),
    // OpenRouter sends another chunk of the choice after its end.
    rest:
      chunkEvent("").replace('"finish_reason":null', '"finish_reason":"stop"') + chunkEvent("") + usageEvent,
    end: doneEvent,
    error: `data: {"error":{"message":"Overloaded by ${upstreamSecret}.","code":500}}\n\n`,
    garbage: ["data: <html>\n\n", 'data: {"choices":5}\n\n', "data: [1]\n\n"],
  };
}

function writtenNatively({ events, errorEvent, endEvent }: ClientDialect): Written {
  const all = events(upstreamName);
  return {
    begun: all.slice(0, 5).join(""),
    rest: all.slice(5, -1).join(""),
    end: all.slice(-1).join(""),
    error: errorEvent(`Overloaded by ${upstreamSecret}.`),
    garbage: [
      `event: ${endEvent}\ndata: <html>\n\n`,
      `event: ${endEvent}\ndata: []\n\n`,
      `event: ${endEvent}\ndata: null\n\n`,
      `event: ${endEvent}\ndata: {"type":"${endEvent}"}\n\n`,
    ],
  };
}

const dialectEndings: [title: string, end: (response: ServerResponse, written: Written) => void][] = [
  ["a connection that is reset", (response) => response.socket?.resetAndDestroy()],
  ["a connection that is closed", (response) => response.socket?.end()],
  ["an end in the middle", (response) => response.end()],
  ["an end before the last event", (response, { rest }) => response.end(rest)],
  ["an end within the last event", (response, { rest, end }) => response.end(rest + end.slice(0, -2))],
  ["silence", () => {}],
  ["an error event", (response, { error }) => response.write(error)],
  ["an error event before the end", (response, { error, rest, end }) => response.end(error + rest + end)],
];
for (const at of [0, 1, 2, 3]) {
  dialectEndings.push([`garbage ${at}`, (response, { garbage }) => response.end(garbage[at] ?? garbage[0])]);
}

for (const dialect of clientDialects) {
  for (const isNative of [true, false]) {
    const how = `${dialect.name}, ${isNative ? "native" : "translated"}`;
    const written = isNative ? writtenNatively(dialect) : writtenByChat();
    const model = isNative ? `${dialect.name}/model` : "chat/model";

    const play = async (prompt: string, script: (response: ServerResponse) => void) => {
      upstream.scripts.set(prompt, script);
      const key = await createKey(gateway, [model]);
      const authorization = `Bearer ${key.value}`;
      const body = dialect.body(model, prompt, { stream: true });
      const answer = await postTo(gateway, `/v1/${dialect.name}`, { authorization }, body);
      return { answer, records: await usageOf(gateway, key.id) };
    };

    for (const [title, end] of dialectEndings) {
      // Only OpenAI's responses have their whole answer in the last event.
      const isWhole = title.startsWith("an end ") && title.endsWith("the last event");
      if (isWhole && !(isNative && dialect.name === "responses" && title.includes("before"))) continue;
      test(`${how}: ${title} mid-stream becomes an error event without a regular end`, async (t) => {
        const { answer, records } = await play(t.title, (response) => {
          beginStream(response);
          response.write(written.begun, () => end(response, written));
        });
        t.is(answer.status, 200);
        if (isNative) t.true(answer.text.startsWith(received(written.begun, model)), answer.text);
        else t.regex(answer.text, /Hel[^]*lo/, "what came before is there");
        const message = dialect.assertErrorEnd(t, answer.text);
        t.regex(message, title.startsWith("an error") ? /^Overloaded by / : /provider/);
        t.false(answer.text.includes(dialect.endEvent));
        t.false(answer.text.includes(upstreamSecret), "our own credential is not shown");
        t.like(records, [{ endpoint: dialect.name, status: "FAILED", httpStatus: 200 }]);
      });
    }

    for (const cut of isNative && dialect.name === "responses" ? [2] : [2, written.end.length]) {
      test(`${how}: an answer with its finish reason is complete without the last ${cut} bytes`, async (t) => {
        const whole = written.begun + written.rest + written.end;
        const { answer, records } = await play(t.title, (response) => {
          beginStream(response);
          response.end(whole.slice(0, -cut));
        });
        assertRegularEnd(t, dialect, answer);
        t.like(records, [{ status: "SUCCEEDED", outputTokens: 2 }]);
      });
    }

    test(`${how}: a stream of single bytes arrives complete and ends correctly`, async (t) => {
      const whole = written.begun + written.rest + written.end;
      const { answer, records } = await play(t.title, async (response) => {
        beginStream(response);
        response.socket?.setNoDelay(true);
        for (const byte of Buffer.from(`${whole}: and so on\n\n`)) {
          await new Promise((resolve) => response.write(Buffer.of(byte), resolve));
        }
      });
      if (isNative) t.is(answer.text, received(whole, model));
      else assertRegularEnd(t, dialect, answer);
      t.like(records, [{ status: "SUCCEEDED", outputTokens: 2 }]);
    });
  }

  test(`${dialect.name}, native: line ends and spaces pass unchanged`, async (t) => {
    const events = dialect.events(upstreamName).join("");
    const model = `${dialect.name}/model`;
    for (const spelled of [
      events.replaceAll("\n", "\r\n"),
      events.replaceAll(/^(event|data): /gm, "$1:"),
      events.replaceAll("\n\n", "\n\n: a comment\n\n"),
    ]) {
      const { answer } = await send(dialect.name, { model, stream: true }, spelled);
      t.is(answer.text, received(spelled, model).slice(0, answer.text.length));
      t.true(answer.text.includes(dialect.endEvent));
    }
  });
}

function received(written: string, model: string): string {
  return written.replaceAll(JSON.stringify(upstreamName), JSON.stringify(model));
}

function assertRegularEnd(t: ExecutionContext, { endEvent }: ClientDialect, { text }: Answer): void {
  const names = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
  t.is(names.filter((name) => name === endEvent).length, 1);
  t.is(names.at(-1), endEvent);
  t.false(names.includes("error"));
}

/** Sends a request that the upstream answers with `sent`. */
async function send(path: "messages" | "responses", body: object, sent: string, status = 200) {
  const prompt = `prompt ${(promptCount += 1)}`;
  upstream.scripts.set(prompt, (response) => {
    if (/^(data|event):/.test(sent)) beginStream(response);
    else response.writeHead(status, { "content-type": "application/json" });
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
  t.like((await usageOf(gateway, key.id))[0], {
    status: "SUCCEEDED",
    inputTokens: 1,
    outputTokens: 2,
  });
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
  const sent = '{"type":"error","error":{"type":"invalid_request_error","message":{"toString":null}}}';
  const { answer } = await send("messages", { model: "messages/model" }, sent, 400);
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
