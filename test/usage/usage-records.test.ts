import test, { type ExecutionContext } from "ava";
import { timeOfId } from "../../gateway/ids.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat, postTo } from "../helpers/post-chat.ts";
import {
  createPromptedUpstream,
  type PromptedUpstream,
  type PromptScript,
} from "../helpers/prompted-upstream.ts";
import {
  beginStream,
  chunkEvent,
  doneEvent,
  sendCompletion,
  usageEvent,
} from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";
import { openChat } from "../helpers/open-chat.ts";

const shared = sharedByFile();

let gateway: TestGateway;
let upstream: PromptedUpstream;

test.before(async () => {
  upstream = await createPromptedUpstream(shared);
  gateway = await startTestGateway(shared);
  await connectUpstream(gateway, upstream);
  for (const [name, kind] of [
    ["priced", "openai-compatible"],
    ["claude", "anthropic"],
  ] as const) {
    await connectUpstream(gateway, upstream, { name, kind, prices: { input: 1, output: 10 } });
  }
});

/** Each test has its own key, so that its records are separate. */
const keyFor = async (title: string, script?: PromptScript) => {
  if (script) upstream.scripts.set(title, script);
  return createKey(gateway, ["test/model", "demo/echo", "priced/model", "claude/model"]);
};

const onlyRecordOf = async (keyId: string) => {
  const records = await eventually(async () => {
    const found = await usageOf(gateway, keyId);
    return found.length > 0 && found;
  });
  if (records.length !== 1 || !records[0]) throw new Error(`${records.length} records instead of one`);
  return records[0];
};

test("a success is recorded with all its facts", async (t) => {
  const key = await keyFor(t.title, (response) => sendCompletion(response));
  const before = Date.now();
  const answer = await postChat(gateway, key.value, chatBody("test/model", t.title));
  const record = await onlyRecordOf(key.id);
  // The phases have their own tests, and a busy machine may start the attempt late.
  const { createdAt, latencyMs, timeToFirstTokenMs, credentialId, ownerId, timing: _, ...facts } = record;
  t.regex(ownerId ?? "", /^usr_/);
  t.regex(credentialId ?? "", /^crd_/);
  t.deepEqual(facts, {
    id: answer.headers.get("x-request-id") ?? "",
    apiKeyId: key.id,
    apiKeyName: "Test key",
    teamId: null,
    model: "test/model",
    provider: "test",
    upstreamModel: "upstream-model",
    attempts: 1,
    cacheWriteInputTokens: null,
    endpoint: "chat/completions",
    clientTool: null,
    stream: false,
    status: "SUCCEEDED",
    httpStatus: 200,
    errorCode: null,
    limitedBy: null,
    errorReason: null,
    dropped: null,
    inputTokens: 5,
    outputTokens: 2,
    cachedInputTokens: null,
    reasoningTokens: null,
    estimated: false,
    cost: null,
    inputPrice: null,
    cachedInputPrice: null,
    cacheWritePrice: null,
    outputPrice: null,
    costDetails: null,
    providerCost: null,
    markup: 0,
  });
  t.is(createdAt.getTime(), timeOfId(record.id), "so that a period is a range of ids");
  t.true(createdAt.getTime() >= before && createdAt.getTime() <= Date.now() && latencyMs >= 0);
  t.true(latencyMs <= Date.now() - before + 1);
  t.true((timeToFirstTokenMs ?? -1) >= 0 && (timeToFirstTokenMs ?? Infinity) <= latencyMs);
});

test("a stream is recorded with its usage, requested or not", async (t) => {
  const key = await keyFor(t.title, (response) => {
    beginStream(response);
    response.end(chunkEvent("Hi") + usageEvent + doneEvent);
  });
  await postChat(gateway, key.value, chatBody("test/model", t.title, { stream: true }));
  const record = await onlyRecordOf(key.id);
  t.like(record, { status: "SUCCEEDED", stream: true, inputTokens: 5, outputTokens: 2, httpStatus: 200 });
  t.true((record.timeToFirstTokenMs ?? Infinity) <= record.latencyMs);
});

const oneEstimated = { outputTokens: 1, estimated: true, cost: null };
const failures: [
  title: string,
  body: (title: string) => unknown,
  script: PromptScript | undefined,
  expected: object,
][] = [
  [
    "no JSON",
    () => "{",
    undefined,
    { httpStatus: 400, errorCode: "invalid_body", model: "", provider: "", upstreamModel: null },
  ],
  [
    "a wrong value",
    (title) => chatBody("test/model", title, { temperature: 3 }),
    undefined,
    { httpStatus: 400, errorCode: "invalid_value", provider: "", upstreamModel: null },
  ],
  [
    "an unknown model",
    (title) => chatBody("test/none", title),
    undefined,
    { httpStatus: 404, errorCode: "model_not_found", model: "test/none", provider: "" },
  ],
  [
    "a model that can be no slug",
    (title) => chatBody("my secret plans", title),
    undefined,
    { httpStatus: 404, errorCode: "model_not_found", model: "" },
  ],
  [
    "an upstream's refusal",
    (title) => chatBody("test/model", title),
    (response) => {
      response.writeHead(429, { "content-type": "application/json" });
      response.end('{"error":{"message":"Slow down.","code":"rate_limit_exceeded"}}');
    },
    { httpStatus: 429, errorCode: "rate_limit_exceeded", model: "test/model", provider: "test", cost: 0 },
  ],
  [
    "an upstream's failure",
    (title) => chatBody("test/model", title),
    (response) => void response.writeHead(500).end(),
    { httpStatus: 502, errorCode: "upstream_error", model: "test/model", upstreamModel: "upstream-model" },
  ],
  [
    "a stream that breaks off",
    (title) => chatBody("test/model", title, { stream: true }),
    (response) => {
      beginStream(response);
      response.write(chunkEvent("Hi"), () => response.destroy());
    },
    { ...oneEstimated, httpStatus: 200, errorCode: "upstream_error", model: "test/model", stream: true },
  ],
];
for (const [title, body, script, expected] of failures) {
  test(`a failure is recorded: ${title}`, async (t) => {
    const key = await keyFor(t.title, script);
    const answer = await postChat(gateway, key.value, body(t.title));
    const record = await onlyRecordOf(key.id);
    t.like(record, {
      status: "FAILED",
      outputTokens: null,
      ...(script ? { cost: 0 } : { cost: 0, attempts: 0 }),
      endpoint: "chat/completions",
      ...expected,
    });
    t.is(record.id, answer.headers.get("x-request-id") ?? "none");
  });
}

test("requests without a key and model lists leave no record", async (t) => {
  const key = await keyFor(t.title);
  await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key.value}` } });
  t.deepEqual(await usageOf(gateway, key.id), []);
});

// Usage that the upstream does not report is estimated from the request and the received part of the response.

/** Counts as about one token. */
const word = " word";
const words = Array.from({ length: 100 }, () => word);
const padding = " and some more of it".repeat(10);

const isNear = (t: ExecutionContext, count: number | null, expected: number) =>
  t.true(count !== null && Math.abs(count - expected) <= 3 + expected / 6, `${count} instead of ${expected}`);

test("a stream that its client leaves is recorded with estimated usage and cost", async (t) => {
  const key = await keyFor(t.title + padding, (response) => {
    beginStream(response);
    response.write(words.map(chunkEvent).join(""));
  });
  const chat = openChat(gateway, key.value, chatBody("priced/model", t.title + padding, { stream: true }));
  await eventually(() => chat.text().split(word).length > 100);
  chat.request.destroy();

  const record = await onlyRecordOf(key.id);
  t.like(record, { status: "CANCELLED", estimated: true });
  isNear(t, record.outputTokens, 100);
  isNear(t, record.inputTokens, 80);
  t.is(record.cost, (record.inputTokens ?? 0) * 1_000 + (record.outputTokens ?? 0) * 10_000);
});

for (const stream of [false, true]) {
  test(`a client that leaves before the response pays for its input, stream: ${stream}`, async (t) => {
    let hasArrived = false;
    const key = await keyFor(t.title + padding, () => void (hasArrived = true));
    const chat = openChat(gateway, key.value, chatBody("priced/model", t.title + padding, { stream }));
    await eventually(() => hasArrived);
    chat.request.destroy();

    const record = await onlyRecordOf(key.id);
    t.like(record, { status: "CANCELLED", estimated: true, outputTokens: 0 });
    isNear(t, record.inputTokens, 80);
  });
}

test("a broken stream is recorded with the received part", async (t) => {
  const key = await keyFor(t.title + padding, (response) => {
    beginStream(response);
    response.write(words.map(chunkEvent).join(""), () => response.destroy());
  });
  await postChat(gateway, key.value, chatBody("priced/model", t.title + padding, { stream: true }));

  const record = await onlyRecordOf(key.id);
  t.like(record, { status: "FAILED", estimated: true });
  isNear(t, record.outputTokens, 100);
});

test("Anthropic's first output count is replaced by an estimate, its input is kept", async (t) => {
  const usage = { input_tokens: 321, output_tokens: 3, cache_read_input_tokens: 100 };
  const event = (data: { type: string; [name: string]: unknown }) =>
    `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  const delta = (text: string) =>
    event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
  const start = { index: 0, content_block: { type: "text", text: "" } };
  const script: PromptScript = (response) => {
    beginStream(response);
    const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage };
    response.write(event({ type: "message_start", message }));
    response.write(event({ type: "content_block_start", ...start }));
    response.write(words.map(delta).join(""), () => response.destroy());
  };
  const body = chatBody("claude/model", t.title + padding, { stream: true, max_tokens: 500 });
  for (const path of ["/v1/messages", "/v1/chat/completions"]) {
    const key = await keyFor(t.title + padding, script);
    await postTo(gateway, path, { authorization: `Bearer ${key.value}` }, body);
    const record = await onlyRecordOf(key.id);
    t.like(record, { status: "FAILED", estimated: true, inputTokens: 421, cachedInputTokens: 100 }, path);
    isNear(t, record.outputTokens, 100);
  }
});

for (const stream of [false, true]) {
  test(`missing or partial usage of an upstream is estimated, stream: ${stream}`, async (t) => {
    for (const usage of [null, { prompt_tokens: 77 }, { prompt_tokens: "77", completion_tokens: -1 }]) {
      const prompt = `${t.title} ${JSON.stringify(usage)}`;
      const message = { role: "assistant", content: words.join("") };
      const key = await keyFor(prompt + padding, (response) => {
        if (stream) {
          beginStream(response);
          const last = `data: ${JSON.stringify({ choices: [], usage })}\n\n`;
          return void response.end(words.map(chunkEvent).join("") + last + doneEvent);
        }
        response.writeHead(200, { "content-type": "application/json" });
        return void response.end(JSON.stringify({ choices: [{ index: 0, message }], usage }));
      });
      t.is(
        (await postChat(gateway, key.value, chatBody("priced/model", prompt + padding, { stream }))).status,
        200,
      );
      const record = await onlyRecordOf(key.id);
      t.like(record, { status: "SUCCEEDED", estimated: true });
      isNear(t, record.outputTokens, 100);
      if (usage?.prompt_tokens === 77) t.is(record.inputTokens, 77, "what is reported is taken");
      else isNear(t, record.inputTokens, 85);
      t.is(record.cost, (record.inputTokens ?? 0) * 1_000 + (record.outputTokens ?? 0) * 10_000);
    }
  });
}

test("refusals and requests that were never sent count no tokens", async (t) => {
  const key = await keyFor(t.title + padding, (response) => void response.writeHead(400).end());
  await postChat(gateway, key.value, chatBody("priced/model", t.title + padding));
  await postChat(gateway, key.value, chatBody("priced/model", t.title + padding, { temperature: 9 }));
  const records = await eventually(async () => {
    const found = await usageOf(gateway, key.id);
    return found.length === 2 && found;
  });
  for (const record of records) {
    t.like(record, { inputTokens: null, outputTokens: null, estimated: false });
    t.is(record.cost, 0);
  }
});
