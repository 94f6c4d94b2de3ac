import test from "ava";
import { addModel, answersWith, askModel, type Script } from "../helpers/add-model.ts";
import { beginStream, chunkEvent, doneEvent, sendCompletion } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

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
  const { id: providerId } = await gateway.admin.providers.create.mutate({
    name: "strict",
    kind: "anthropic",
    baseUrl: "http://127.0.0.1:1/v1",
    apiKey: "secret-0123456789",
  });
  await gateway.admin.models.create.mutate({ slug: "strict/model", providerId });
  const own = await addModel(t, gateway, answersWith(429), ["strict/model"]);
  const { answer, record } = await askModel(gateway, own.slug, { logprobs: true });
  t.is(answer.status, 429);
  t.like(record, { provider: own.name, attempts: 1 });
});

test("a cooling provider is retried if its fallback cannot serve the request", async (t) => {
  const { id: providerId } = await gateway.admin.providers.create.mutate({
    name: "stricter",
    kind: "anthropic",
    baseUrl: "http://127.0.0.1:1/v1",
    apiKey: "secret-0123456789",
  });
  await gateway.admin.models.create.mutate({ slug: "stricter/model", providerId });
  const answers = [answersWith(429), sendCompletion];
  const own = await addModel(t, gateway, (response) => answers.shift()?.(response), ["stricter/model"]);
  t.is((await askModel(gateway, own.slug, { logprobs: true })).answer.status, 429);
  const { answer, record } = await askModel(gateway, own.slug, { logprobs: true });
  t.is(answer.status, 200, answer.text);
  t.like(record, { provider: own.name, attempts: 1 });
});
