import test from "ava";
import { addModel, answersWith, askModel, type Script } from "../helpers/add-model.ts";
import { createModel } from "../helpers/connect-upstream.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import {
  beginStream,
  chunkEvent,
  createUpstream,
  doneEvent,
  sendCompletion,
} from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let gateway: TestGateway;

test.before(async () => {
  gateway = await startTestGateway(shared);
});

for (const status of [429, 503, 529, 401, 402, 403]) {
  test(`a fallback answers if the model's own provider returns ${status}`, async (t) => {
    const other = await addModel(t, gateway, sendCompletion);
    const own = await addModel(t, gateway, answersWith(status), [other.slug]);

    const { answer, record } = await askModel(gateway, own.slug);
    t.is(answer.status, 200);
    t.is((JSON.parse(answer.text) as { model: string }).model, own.slug);
    t.is(own.upstream.requests.length, 1);
    t.like(JSON.parse(other.upstream.requests[0]?.body ?? ""), { model: `${other.name}-upstream` });
    t.like(record, {
      model: own.slug,
      provider: other.name,
      upstreamModel: `${other.name}-upstream`,
      status: "SUCCEEDED",
      attempts: 2,
    });
  });
}

test("a fallback answers if the provider is unreachable, in streams, too", async (t) => {
  const other = await addModel(t, gateway, (response) => {
    beginStream(response);
    response.end(chunkEvent("Hi!") + doneEvent);
  });
  const own = await addModel(t, gateway, { url: "http://127.0.0.1:1" }, [other.slug]);
  const { answer, record } = await askModel(gateway, own.slug, { stream: true });
  t.is(answer.status, 200);
  t.true(answer.text.endsWith(doneEvent));
  t.like(record, { provider: other.name, attempts: 2, stream: true });
});

for (const [what, script, status] of [
  ["a 500", answersWith(500), 502],
  ["a 400", answersWith(400), 400],
  ["a connection that breaks after the request", (response) => void response.socket?.destroy(), 502],
] satisfies [string, Script, number][]) {
  test(`nothing is retried after ${what}: it was processed or is the client's error`, async (t) => {
    const other = await addModel(t, gateway, sendCompletion);
    const own = await addModel(t, gateway, script, [other.slug]);
    const { answer, record } = await askModel(gateway, own.slug);
    t.is(answer.status, status);
    t.is(answer.headers.get("x-should-retry"), null);
    t.is(other.upstream.requests.length, 0);
    t.like(record, { provider: own.name, attempts: 1 });
  });
}

test("a stream that breaks midway is not restarted elsewhere", async (t) => {
  const other = await addModel(t, gateway, sendCompletion);
  const own = await addModel(
    t,
    gateway,
    (response) => {
      beginStream(response);
      response.write(chunkEvent("Hi!"), () => response.socket?.destroy());
    },
    [other.slug],
  );
  const { answer, record } = await askModel(gateway, own.slug, { stream: true });
  t.regex(answer.text, /"code":"upstream_error"/);
  t.notRegex(answer.text, /\[DONE\]/);
  t.is(other.upstream.requests.length, 0);
  t.like(record, { status: "FAILED", attempts: 1 });
});

test("a fallback that cannot serve the request leaves the first provider's error", async (t) => {
  await createModel(gateway, { url: "http://127.0.0.1:1" }, { name: "strict", kind: "anthropic" });
  const own = await addModel(t, gateway, answersWith(429), ["strict/model"]);
  const { answer, record } = await askModel(gateway, own.slug, { logprobs: true });
  t.is(answer.status, 429);
  t.like(record, { provider: own.name, attempts: 1 });
});

test("a cooling provider is retried if its fallback cannot serve the request", async (t) => {
  await createModel(gateway, { url: "http://127.0.0.1:1" }, { name: "stricter", kind: "anthropic" });
  const answers = [answersWith(429), sendCompletion];
  const own = await addModel(t, gateway, (response) => answers.shift()?.(response), ["stricter/model"]);
  t.is((await askModel(gateway, own.slug, { logprobs: true })).answer.status, 429);
  const { answer, record } = await askModel(gateway, own.slug, { logprobs: true });
  t.is(answer.status, 200, answer.text);
  t.like(record, { provider: own.name, attempts: 1 });
});

let timed: TestGateway;
let aheadMs = 0;

test.before(async () => {
  timed = await startTestGateway(shared, { runtime: { now: () => Date.now() + aheadMs } });
});

test.serial("a provider that asks for a pause is skipped until it ends", async (t) => {
  const other = await addModel(t, timed, sendCompletion);
  let isLimited = true;
  const own = await addModel(
    t,
    timed,
    (response) =>
      isLimited ? answersWith(429, { "retry-after": "300" })(response) : sendCompletion(response),
    [other.slug],
  );
  await askModel(timed, own.slug);
  isLimited = false;
  const during = await askModel(timed, own.slug);
  t.like(during.record, { provider: other.name, attempts: 1 });
  t.is(own.upstream.requests.length, 1);

  aheadMs += 301_000;
  t.like((await askModel(timed, own.slug)).record, { provider: own.name, attempts: 1 });
});

test("a rejected credential is skipped in favor of another one of its provider", async (t) => {
  const seen: string[] = [];
  const upstream = await createUpstream(t, ({ headers }, response) => {
    seen.push(String(headers.authorization));
    if (headers.authorization === "Bearer first-secret-0123456789") answersWith(401)(response);
    else sendCompletion(response);
  });
  const own = await addModel(t, timed, upstream);
  const { credentials } = await timed.admin.providers.addCredential.mutate({
    id: own.providerId,
    apiKey: "second-secret-0123456789",
  });
  for (let request = 0; request < 12; request++) {
    const { answer, record } = await askModel(timed, own.slug);
    t.is(answer.status, 200);
    t.is(record?.credentialId, credentials[1]?.id);
  }
  t.is(seen.filter((authorization) => authorization.includes("first")).length, 1);
});

test("credentials share requests by weight", async (t) => {
  const seen: string[] = [];
  const upstream = await createUpstream(t, ({ headers }, response) => {
    seen.push(String(headers.authorization));
    sendCompletion(response);
  });
  const own = await addModel(t, timed, upstream);
  await timed.admin.providers.addCredential.mutate({
    id: own.providerId,
    apiKey: "second-secret-0123456789",
    weight: 3,
  });
  const key = await createKey(timed, [own.slug]);
  for (let request = 0; request < 200; request++) {
    await postChat(timed, key.value, chatBody(own.slug));
  }
  const second = seen.filter((authorization) => authorization.includes("second")).length;
  // The second credential should get 150 requests. Six standard deviations are 37.
  t.true(Math.abs(second - 150) < 37, `${second} of 200`);
});

test("if every provider fails, the last error is returned with x-should-retry: false", async (t) => {
  const candidates = [];
  for (let candidate = 0; candidate < 3; candidate++)
    candidates.push(await addModel(t, timed, answersWith(503)));
  const own = await addModel(
    t,
    timed,
    answersWith(429),
    candidates.map(({ slug }) => slug),
  );
  const { answer, record } = await askModel(timed, own.slug);
  t.is(answer.status, 502);
  t.is(answer.headers.get("x-should-retry"), "false");
  // The default UPSTREAM_ATTEMPTS_MAX is 3.
  t.deepEqual(
    [own, ...candidates].map(({ upstream }) => upstream.requests.length),
    [1, 1, 1, 0],
  );
  t.like(record, { status: "FAILED", attempts: 3, provider: candidates[1]?.name });
});

test("the only provider is retried after a short wait that it asked for", async (t) => {
  let calls = 0;
  const own = await addModel(t, timed, (response) =>
    ++calls === 1 ? answersWith(429, { "retry-after-ms": "20" })(response) : sendCompletion(response),
  );
  const { answer, record } = await askModel(timed, own.slug);
  t.is(answer.status, 200);
  t.like(record, { attempts: 2, status: "SUCCEEDED" });
});

test("a longer or missing wait is left to the client", async (t) => {
  for (const headers of [{ "retry-after": "7" }, {}] as Record<string, string>[]) {
    const own = await addModel(t, timed, answersWith(429, headers));
    const { answer, record } = await askModel(timed, own.slug);
    t.is(answer.status, 429);
    t.is(answer.headers.get("retry-after"), headers["retry-after"] ?? null);
    t.is(answer.headers.get("x-should-retry"), null);
    t.like(record, { attempts: 1 });
    t.is(own.upstream.requests.length, 1);
    // The only provider is called even during its cool-down.
    t.is((await askModel(timed, own.slug)).answer.status, 429);
    t.is(own.upstream.requests.length, 2);
  }
});

test("retries are a share of the traffic and do not overload a failing upstream", async (t) => {
  // The clock jumps, so every cool-down ends between requests.
  let time = Date.now();
  const leaping = await startTestGateway(t, {
    environment: { UPSTREAM_COOL_DOWN_MS: "1" },
    runtime: { now: () => (time += 5) },
  });
  const other = await addModel(t, leaping, sendCompletion, []);
  const own = await addModel(t, leaping, answersWith(503), [other.slug]);
  const key = await createKey(leaping, [own.slug]);
  let succeeded = 0;
  for (let request = 0; request < 60; request++) {
    const { status } = await postChat(leaping, key.value, chatBody(own.slug));
    if (status === 200) succeeded++;
  }
  // The retry budget starts with ten retries, and every ten requests add one.
  t.true(succeeded >= 14 && succeeded <= 16, `${succeeded}`);
  t.is(own.upstream.requests.length, 60);
});
