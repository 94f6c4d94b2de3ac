import type { ServerResponse } from "node:http";
import test, { type ExecutionContext } from "ava";
import { timeRequest } from "../../gateway/usage/recording/usage-recorder.ts";
import { addModel, answersWith, askModel } from "../helpers/add-model.ts";
import { askHistory } from "../helpers/ask-history.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { freePort } from "../helpers/free-port.ts";
import { chatBody, postChat, postTo } from "../helpers/post-chat.ts";
import { beginStream, chunkEvent, createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";

const shared = shareGateway();

const canary = "canary-0123456789";

const failures: [code: string, reason: string, script: (response: ServerResponse) => void][] = [
  ["upstream_error", "connection_lost", (response) => response.socket?.resetAndDestroy()],
  ["upstream_error", "unreadable_answer", (response) => response.socket?.end(`${canary}\r\n\r\n`)],
  ["upstream_error", "unreadable_answer", (response) => response.end(`<html>${canary}</html>`)],
  ["upstream_error", "answer_too_long", (response) => response.end(canary.repeat(10_000))],
  ["upstream_timeout", "first_byte_timeout", () => {}],
  ["upstream_timeout", "idle_timeout", (response) => response.flushHeaders()],
  ["upstream_error", "http_302", answersWith(302, { location: `http://${canary}/` })],
  ["upstream_error", "http_503", answersWith(503)],
  ["upstream_auth_failed", "http_401", answersWith(401)],
  ["upstream_auth_failed", "http_402", answersWith(402)],
  // For these statuses, the record keeps the upstream's own error code.
  ["y", "http_400", answersWith(400)],
  ["y", "http_429", answersWith(429)],
];

const streamFailures: typeof failures = [
  ["upstream_error", "unreadable_answer", sendCompletion],
  ["upstream_error", "unreadable_answer", streams(`data: <${canary}>\n\n`)],
  ["upstream_error", "answer_too_long", streams(`data: {"model":"${"a".repeat(100_000)}`)],
  ["upstream_error", "answer_cut_off", streams(chunkEvent("Hi"))],
  [
    "upstream_error",
    "reported_error",
    streams(`data: {"error":{"message":"${canary}","code":"${canary}"}}\n\n`),
  ],
  [
    "upstream_error",
    "connection_lost",
    (response) => {
      beginStream(response);
      response.write(chunkEvent("Hi"), () => response.socket?.resetAndDestroy());
    },
  ],
];

/** On a busy machine, a response can take seconds, so only the providers that must time out are hurried. */
const timeouts: Record<string, Timeouts> = {
  first_byte_timeout: { firstByteTimeoutMs: 1_000 },
  idle_timeout: { idleTimeoutMs: 1_000 },
};

type Timeouts = { firstByteTimeoutMs?: number; idleTimeoutMs?: number; totalTimeoutMs?: number };

async function addHurriedModel(
  t: ExecutionContext,
  gateway: TestGateway,
  script: (response: ServerResponse) => void,
  limits?: Timeouts,
): Promise<{ slug: string }> {
  const model = await addModel(t, gateway, script);
  if (limits) await gateway.admin.providers.update.mutate({ id: model.providerId, timeouts: limits });
  return model;
}

test("a record contains why its provider failed, in the gateway's words", async (t) => {
  const gateway = await startTestGateway(t, {
    environment: {
      UPSTREAM_ANSWER_BYTES_MAX: "65536",
      UPSTREAM_EVENT_BYTES_MAX: "65536",
      // Without retries, each record has the reason of a single call.
      UPSTREAM_ATTEMPTS_MAX: "1",
    },
  });
  const all = [
    ...failures.map((failure) => [false, ...failure] as const),
    ...streamFailures.map((failure) => [true, ...failure] as const),
  ];
  const found = await Promise.all(
    all.map(async ([stream, , expected, script]) => {
      const { slug } = await addHurriedModel(t, gateway, script, timeouts[expected]);
      const { record } = await askModel(gateway, slug, { stream });
      t.false(JSON.stringify(record).includes(canary));
      return [stream, record?.errorCode, record?.errorReason];
    }),
  );
  t.deepEqual(
    found,
    all.map(([stream, code, reason]) => [stream, code, reason]),
  );
  t.is(await reasonOfUnreachable(t, gateway, "http"), "connection_refused");
  t.is(await reasonOfUnreachable(t, gateway, "https"), "tls_failed");
});

test("a total timeout and the demo's failures have their reasons", async (t) => {
  const gateway = shared();
  const { slug } = await addHurriedModel(t, gateway, () => {}, { totalTimeoutMs: 1_000 });
  t.is((await askModel(gateway, slug)).record?.errorReason, "total_timeout");
  const key = await gateway.admin.keys.create.mutate({ name: "Demo", models: ["demo/echo"] });
  for (const prompt of ["/fail 503", "/break", "Hello"])
    await postChat(gateway, key.value, chatBody("demo/echo", prompt));
  const records = await usageOf(gateway, key.key.id);
  t.deepEqual(records.map(({ errorReason }) => errorReason).toReversed(), [
    "http_503",
    "connection_lost",
    null,
  ]);
});

test("an error mid-stream differs from a malformed one in every dialect", async (t) => {
  const gateway = shared();
  const answers: Record<string, string> = {
    reported_error: `event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"${canary}"}}\n\n`,
    unreadable_answer: `event: message_stop\ndata: {"type":"message_stop"}\n\n`,
  };
  let answer = "";
  const upstream = await createUpstream(t, (_request, response) => streams(answer)(response));
  const { id, value, model } = await connectUpstream(gateway, upstream, { kind: "anthropic" });
  const body = chatBody(model, "Hello", { stream: true, max_tokens: 9 });
  for (answer of Object.values(answers)) {
    // Anthropic's stream is read natively for `/v1/messages`, and translated for chat completions.
    await postTo(gateway, "/v1/messages", { "x-api-key": value }, body);
    await postChat(gateway, value, body);
  }
  const reasons = (await usageOf(gateway, id)).map(({ errorReason }) => errorReason).toReversed();
  t.deepEqual(reasons.slice(0, 3), ["reported_error", "reported_error", "unreadable_answer"]);
  t.false(reasons.includes(null));
});

function streams(text: string): (response: ServerResponse) => void {
  return (response) => {
    beginStream(response);
    response.end(text);
  };
}

/** With http, the provider's port is closed. With https, the provider has no TLS. */
async function reasonOfUnreachable(t: ExecutionContext, gateway: TestGateway, scheme: "http" | "https") {
  const plain = await createUpstream(t, (_request, response) => sendCompletion(response));
  const url =
    scheme === "https" ? plain.url.replace("http:", "https:") : `http://127.0.0.1:${await freePort()}`;
  const { slug } = await addModel(t, gateway, { url });
  return (await askModel(gateway, slug)).record?.errorReason;
}

const timingQuery = `query($id: ID!) {
  usageRecord(id: $id) { timing { receivedMs attempts { provider model startMs durationMs failure } } } }`;

test("a fallback's record has the time and failure of each attempt", async (t) => {
  const gateway = shared();
  const last = await addModel(t, gateway, (response) => sendCompletion(response));
  const away = await addModel(t, gateway, { url: "http://127.0.0.1:1" });
  const limited = await addModel(t, gateway, answersWith(429), [away.slug, last.slug]);

  const { record } = await askModel(gateway, limited.slug);
  const timing = record?.timing ?? { receivedMs: -1, attempts: [] };
  t.deepEqual(
    timing.attempts.map(({ provider, model, failure }) => [provider, model, failure]),
    [
      [limited.name, `${limited.name}-upstream`, "http_429"],
      [away.name, `${away.name}-upstream`, "connection_refused"],
      [last.name, `${last.name}-upstream`, null],
    ],
  );
  let earliestMs = timing.receivedMs;
  t.true(earliestMs >= 0);
  for (const { startMs, durationMs } of timing.attempts) {
    // Start and duration are rounded separately.
    t.true(startMs >= earliestMs - 1 && durationMs >= 0, JSON.stringify(timing));
    earliestMs = startMs + durationMs;
  }
  t.true(earliestMs <= (record?.latencyMs ?? 0) + 1);

  const { data } = await askHistory(gateway, gateway.accessToken, timingQuery, {
    variables: { id: record?.id },
  });
  t.deepEqual(data, { usageRecord: { timing } });
});

test("a request that starts its only attempt at once stores no times", async (t) => {
  const gateway = shared();
  // On a busy machine, a request may start late.
  const record = await eventually(async () => {
    const asked = (await askModel(gateway, "demo/echo")).record;
    return asked?.timing === null && asked;
  });
  const { data } = await askHistory(gateway, gateway.accessToken, timingQuery, {
    variables: { id: record.id },
  });
  t.deepEqual(data, { usageRecord: { timing: null } });
});

test("the record of a queued request has the end of the wait", async (t) => {
  const gateway = await startTestGateway(t, { environment: { CONCURRENT_REQUESTS_MAX: "1" } });
  const held: (() => void)[] = [];
  const { slug } = await addModel(t, gateway, (response) => void held.push(() => sendCompletion(response)));
  const first = await createKey(gateway, [slug]);
  const second = await createKey(gateway, [slug]);
  const answers = [postChat(gateway, first.value, chatBody(slug))];
  await eventually(() => held.length === 1);
  answers.push(postChat(gateway, second.value, chatBody(slug)));
  await eventually(() => gateway.services.openExchanges.keyIds().includes(second.id));
  const beganAt = performance.now();
  await eventually(() => performance.now() - beganAt > 100);
  held[0]?.();
  await eventually(() => held.length === 2);
  held[1]?.();
  for (const { status } of await Promise.all(answers)) t.is(status, 200);
  const [record] = await usageOf(gateway, second.id);
  const [attempt, ...others] = record?.timing?.attempts ?? [];
  t.deepEqual(others, []);
  t.true((attempt?.startMs ?? 0) - (record?.timing?.receivedMs ?? 0) >= 50, JSON.stringify(record?.timing));
});

test("a record has the times of at most eight attempts", (t) => {
  const failed = { provider: "test", model: "model", startMs: 1, durationMs: 1, failure: "http_429" };
  const candidate = { providerName: "test", upstreamModel: { name: "model" } };
  const moments = { startedAt: 0, receivedAt: 0, calledAt: 1, attemptedAt: 9, candidate };
  for (const [attempts, failures, stored] of [
    [8, 7, 8],
    [8, 8, 8],
    [20, 8, 8],
  ] as const) {
    const failedAttempts = Array.from({ length: failures }, () => failed);
    t.is(timeRequest({ ...moments, attempts, failedAttempts })?.attempts.length, stored);
  }
});

const refusedFor: [reason: string, path: string, more: object][] = [
  ["invalid messages", "/v1/chat/completions", { messages: "hi" }],
  ["no messages", "/v1/chat/completions", {}],
  ["a temperature beyond its range", "/v1/chat/completions", { messages: [hello()], temperature: 3 }],
  ["no max_tokens", "/v1/messages", { messages: [hello()] }],
  ["invalid messages", "/v1/messages", { messages: 5, max_tokens: 5 }],
  ["no input", "/v1/responses", {}],
  ["a stream that is neither true nor false", "/v1/responses", { input: "hi", stream: "yes" }],
  ["no input", "/v1/embeddings", {}],
];
for (const [reason, path, more] of refusedFor) {
  test(`${path}, refused for ${reason}: the record contains the requested model`, async (t) => {
    for (const model of ["demo/echo", "demo/none", "echo"]) {
      const { id, value } = await createKey(shared());
      const answer = await postTo(shared(), path, { authorization: `Bearer ${value}` }, { model, ...more });
      t.is(answer.status, 400, answer.text);
      const [record] = await usageOf(shared(), id);
      t.like(record, { model, status: "FAILED", httpStatus: 400, provider: "" });
    }
  });
}

const bareNames = [
  "acme-large",
  "gpt-4o-mini-2024-07-18",
  "claude-3-5-sonnet-20241022",
  "anthropic.claude-3-5-sonnet-20241022-v2:0",
  "Llama-3.3-70B-Instruct",
  "llama3.1:70b-instruct-q4_K_M",
  "Mixtral-8x7B-Instruct-v0.1",
  "text-embedding-3-small",
  "claude-3-5-sonnet@20240620",
  "o3",
];
test("a model without its provider is recorded by name and can be filtered for", async (t) => {
  const { id, value } = await createKey(shared());
  for (const model of bareNames) {
    const answer = await chat(value, { model, messages: [hello()] });
    t.is(answer.status, 404);
  }
  const names = (await usageOf(shared(), id)).map(({ model }) => model);
  t.deepEqual(names.toSorted(), bareNames.toSorted());

  const { data } = await askHistory(
    shared(),
    shared().accessToken,
    `query ($key: ID!) { usageSummary(filter: { apiKeyId: $key, model: "acme-large" }, groupBy: [MODEL]) { model requests } }`,
    { variables: { key: id } },
  );
  t.deepEqual(data, { usageSummary: [{ model: "acme-large", requests: 1 }] });
});

const noNames: [what: string, model: unknown][] = [
  ["a text", "my secret plans"],
  ["a text of one word that is long", "antidisestablishmentarianism"],
  ["no text", 5],
  ["nothing", undefined],
  ["a key of OpenAI's", "sk-proj-abc"],
  ["a key of the gateway's behind a provider", `openai/sk-gateway-${"a1".repeat(20)}`],
  ["a key of Groq's", "gsk_f3Kd92mLqP7xR5tVbN8wYzA1cE4gHjKs"],
  ["a key of Google's", "AIzaSyD3kF9-mQ2xV7bN1cE4gH8jLpR5tWyZ0aU"],
  ["a key of AWS's", "AKIAIOSFODNN7EXAMPLE"],
  ["a token of Hugging Face's", "hf_QkzWvXbNcMaLsKdJfHgPqOwIeUrYt"],
  ["random letters and digits", "8f3Kq0Zx2mB7"],
  ["a UUID", "7b1c2f4e-9a3d-4c8b-a1f6-2e5d7c9b0a41"],
  ["a token of three parts", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.SflKxwRJSMeKKF2QT4fwp"],
  ["an e-mail address", "ada@example.com"],
  ["a telephone number", "020-7946-0958"],
];
test("a possible text or secret is not recorded, and such requests are grouped", async (t) => {
  const { id, value } = await createKey(shared());
  for (const [, model] of noNames) await chat(value, { model, messages: [hello()] });
  const records = await usageOf(shared(), id);
  t.is(records.length, noNames.length);
  t.deepEqual([...new Set(records.map(({ model }) => model))], [""]);

  const { data } = await askHistory<{ usageRecords: { edges: unknown[] } }>(
    shared(),
    shared().accessToken,
    `query ($key: ID!) { usageRecords(filter: { apiKeyId: $key, model: "" }) { edges { node { id } } } }`,
    { variables: { key: id } },
  );
  t.is(data?.usageRecords.edges.length, noNames.length);
});

test("names of missing models are limited per hour", async (t) => {
  let now = Date.parse("2026-11-22T10:10:00Z");
  const limited = await startTestGateway(t, {
    environment: { USAGE_UNKNOWN_MODELS_PER_HOUR_MAX: "2" },
    // Records are listed by time, so each record needs a different time.
    runtime: { now: () => now++ },
  });
  const { id, value } = await createKey(limited);
  const namesAfter = async (...models: string[]) => {
    for (const model of models) {
      const headers = { authorization: `Bearer ${value}` };
      await postTo(limited, "/v1/chat/completions", headers, { model, messages: [hello()] });
    }
    return (await usageOf(limited, id)).slice(0, models.length).map((record) => record.model);
  };
  t.deepEqual(await namesAfter("a/one", "a/two", "a/three", "a/one", "demo/echo"), [
    "demo/echo",
    "a/one",
    "",
    "a/two",
    "a/one",
  ]);
  now += 3_600_000;
  t.deepEqual(await namesAfter("a/three"), ["a/three"]);
});

function hello(): object {
  return { role: "user", content: "Hello" };
}

function chat(value: string, body: object) {
  return postTo(shared(), "/v1/chat/completions", { authorization: `Bearer ${value}` }, body);
}
