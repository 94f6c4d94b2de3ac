import test from "ava";
import { addModel } from "../helpers/add-model.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { openChat } from "../helpers/open-chat.ts";
import { chatBody, postChat, postTo } from "../helpers/post-chat.ts";
import {
  beginStream,
  chunkEvent,
  createUpstream,
  doneEvent,
  sendCompletion,
  usageEvent,
} from "../helpers/scripted-upstream.ts";
import { createKey } from "../helpers/test-gateway.ts";
import { startCollector, startTracedGateway } from "./trace-collector.ts";

test("a response is a span with model and tokens, which contains the upstream call", async (t) => {
  const collector = await startCollector(t);
  const gateway = await startTracedGateway(t, collector);
  const upstream = await createUpstream(t, (_request, response) => sendCompletion(response));
  const { value, model } = await connectUpstream(gateway, upstream, { preset: "mistral" });
  const before = Date.now();
  const answer = await postChat(gateway, value, chatBody(model));

  const [{ span, calls } = t.fail()] = await collector.requests(1);
  t.is(span.name, "POST /v1/chat/completions");
  t.is(span.parentSpanId, null);
  t.false(span.hasFailed);
  t.deepEqual(span.attributes, {
    "http.request.method": "POST",
    "url.scheme": "http",
    "url.path": "/v1/chat/completions",
    "http.route": "/v1/chat/completions",
    "http.response.status_code": 200,
    "http.response.header.x-request-id": [answer.headers.get("x-request-id")],
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "mistral_ai",
    "gen_ai.request.model": "test/model",
    "gen_ai.response.model": "upstream-model",
    "gen_ai.usage.input_tokens": 5,
    "gen_ai.usage.output_tokens": 2,
  });
  t.is(calls.length, 1);
  const [call = t.fail()] = calls;
  t.is(call.name, "chat upstream-model");
  t.is(call.kind, "client");
  t.false(call.hasFailed);
  t.deepEqual(call.attributes, {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "mistral_ai",
    "gen_ai.request.model": "upstream-model",
    "http.response.status_code": 200,
    "server.address": "127.0.0.1",
    "server.port": Number(new URL(upstream.url).port),
  });
  t.true(before - 1 <= span.startMs && span.startMs <= call.startMs);
  t.true(call.startMs <= call.endMs && call.endMs <= span.endMs && span.endMs <= Date.now() + 1);
  t.is(span.resource["service.name"], "model-gateway");
  t.is(upstream.requests[0]?.headers["traceparent"], undefined);
});

test("a stream records the time of its first token", async (t) => {
  const collector = await startCollector(t);
  const gateway = await startTracedGateway(t, collector);
  const { value, model } = await connectUpstream(
    gateway,
    await createUpstream(t, (_request, response) => {
      beginStream(response);
      response.end(chunkEvent("Hi") + usageEvent + doneEvent);
    }),
  );
  await postChat(gateway, value, chatBody(model, "Hello", { stream: true }));

  const [{ span, calls } = t.fail()] = await collector.requests(1);
  t.is(span.attributes["gen_ai.provider.name"], "test");
  t.is(span.attributes["gen_ai.usage.output_tokens"], 2);
  for (const { attributes, startMs, endMs } of [span, ...calls]) {
    t.true(attributes["gen_ai.request.stream"]);
    const seconds = Number(attributes["gen_ai.response.time_to_first_chunk"]);
    t.true(seconds >= 0 && seconds * 1_000 <= endMs - startMs + 1, `${seconds} s`);
  }
});

test("the refused call, the retry and the fallback each have a span", async (t) => {
  const collector = await startCollector(t);
  const gateway = await startTracedGateway(t, collector, { UPSTREAM_RETRY_PERCENT_MAX: "100" });
  let calls = 0;
  const patient = await addModel(t, gateway, (response) => {
    if (calls++ > 0) return sendCompletion(response);
    response.writeHead(429, { "retry-after-ms": "20" }).end("{}");
  });
  const fine = await addModel(t, gateway, (response) => sendCompletion(response));
  const away = await addModel(t, gateway, (response) => void response.writeHead(503).end("{}"), [fine.slug]);
  const { value } = await createKey(gateway, [patient.slug, away.slug, fine.slug]);
  t.is((await postChat(gateway, value, chatBody(patient.slug))).status, 200);
  t.is((await postChat(gateway, value, chatBody(away.slug))).status, 200);

  const [retried = t.fail(), fellBack = t.fail()] = await collector.requests(2);
  const seen = (spans: typeof retried.calls) =>
    spans.map(({ attributes, hasFailed }) => [
      attributes["gen_ai.provider.name"],
      attributes["http.response.status_code"],
      attributes["http.request.resend_count"],
      attributes["error.type"],
      hasFailed,
    ]);
  t.deepEqual(seen(retried.calls), [
    [patient.name, 429, undefined, "429", true],
    [patient.name, 200, 1, undefined, false],
  ]);
  const [first = t.fail(), second = t.fail()] = retried.calls;
  t.true(second.startMs - first.endMs >= 19, "the wait is in neither");
  t.deepEqual(seen(fellBack.calls), [
    [away.name, 503, undefined, "503", true],
    [fine.name, 200, 1, undefined, false],
  ]);
  t.is(fellBack.span.attributes["gen_ai.request.model"], away.slug);
  t.is(fellBack.span.attributes["gen_ai.response.model"], `${fine.name}-upstream`);
  t.is(fellBack.span.attributes["gen_ai.provider.name"], fine.name);
});

const errors: Record<string, { prompt: string; key?: "wrong" | "limited"; model?: string } & Seen> = {
  "an upstream's own failure": { prompt: "500", status: 502, type: "upstream_error", callType: "500" },
  "an upstream that breaks off": {
    prompt: "break",
    status: 502,
    type: "upstream_error",
    callType: "upstream_error",
  },
  "a key that does not count": { prompt: "", key: "wrong", status: 401, type: "invalid_api_key" },
  "a limit that is reached": { prompt: "", key: "limited", status: 429, type: "token_limit_exceeded" },
  "a model that is not there": { prompt: "", model: "test/nothing", status: 404, type: "model_not_found" },
};

type Seen = { status: number; type: string; callType?: string };

test("a failed or refused request has a span with its outcome", async (t) => {
  const collector = await startCollector(t);
  const gateway = await startTracedGateway(t, collector);
  const upstream = await createUpstream(t, ({ body }, response) => {
    if (body.includes("500")) return void response.writeHead(500).end("{}");
    response.destroy();
  });
  const limits = { tokensPerMinute: 1 };
  for (const [index, [title, { prompt, key, model: asked, ...expected }]] of Object.entries(
    errors,
  ).entries()) {
    // Each case has its own provider, because a failing one cools down.
    const { value, model } = await connectUpstream(gateway, upstream, { name: `test-${index}` });
    const limited = await gateway.admin.keys.create.mutate({ name: "Limited", models: [model], limits });
    const values = { wrong: "sk-wrong", limited: limited.value };
    const asker = key === undefined ? value : values[key];
    const { status } = await postChat(gateway, asker, chatBody(asked ?? model, prompt));
    t.is(status, expected.status, title);

    const { span, calls } = (await collector.requests(index + 1))[index] ?? t.fail();
    t.is(span.attributes["http.response.status_code"], expected.status, title);
    t.is(span.attributes["error.type"], expected.type, title);
    t.is(span.hasFailed, expected.status >= 500, title);
    t.deepEqual(
      calls.map(({ attributes, hasFailed }) => [attributes["error.type"], hasFailed]),
      expected.callType === undefined ? [] : [[expected.callType, true]],
      title,
    );
  }
});

test("a disconnecting client is not a failure", async (t) => {
  const collector = await startCollector(t);
  const gateway = await startTracedGateway(t, collector);
  const { value, model } = await connectUpstream(
    gateway,
    await createUpstream(t, (_request, response) => {
      beginStream(response);
      response.write(chunkEvent("Hi"));
    }),
  );
  const stream = openChat(gateway, value, chatBody(model, "Hello", { stream: true }));
  await stream.received("Hi");
  stream.request.destroy();

  const [{ span, calls } = t.fail()] = await collector.requests(1);
  for (const { attributes, hasFailed } of [span, ...calls]) {
    t.is(attributes["error.type"], "cancelled");
    t.false(hasFailed);
  }
  t.is(calls.length, 1);
});

test("other requests have a span, too, without the client's text", async (t) => {
  const collector = await startCollector(t);
  const gateway = await startTracedGateway(t, collector);
  const { value } = await createKey(gateway);
  const headers = { authorization: `Bearer ${value}` };
  await fetch(`${gateway.url}/v1/models`, { headers });
  await fetch(`${gateway.url}/v1/models/demo/echo`, { headers });
  await postTo(gateway, "/v1/messages/count_tokens", headers, {
    model: "demo/echo",
    messages: [{ role: "user", content: "Hello" }],
  });
  await fetch(`${gateway.url}/v1/canary`, { headers });
  await fetch(`${gateway.url}/v1/models`, { method: "DELETE", headers });
  await fetch(`${gateway.url}/healthz`);
  await fetch(`${gateway.url}/canary`);

  const requests = await collector.requests(5);
  t.deepEqual(
    requests.map(({ span }) => [span.name, span.attributes["http.response.status_code"]]),
    [
      ["GET /v1/models", 200],
      ["GET /v1/models/{slug}", 200],
      ["POST /v1/messages/count_tokens", 200],
      ["GET", 404],
      ["DELETE /v1/models", 405],
    ],
  );
  t.is(requests[1]?.span.attributes["url.path"], undefined);
  t.false(collector.batches.some(({ body }) => body.includes("canary")));
});
