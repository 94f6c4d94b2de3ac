import test from "ava";
import nock from "nock";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { chunkEvent, doneEvent, usageEvent } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let gateway: TestGateway;
let key: { id: string; value: string };

test.before(async () => {
  nock.disableNetConnect();
  nock.enableNetConnect((host) => host.startsWith("127.0.0.1"));
  // As by default in production, private upstreams are rejected.
  gateway = await startTestGateway(shared, { environment: { UPSTREAM_PRIVATE_HOSTS: "" } });
  key = await connectUpstream(gateway, { url: "https://api.openai.com" });
});

test.after.always(() => {
  nock.cleanAll();
  nock.restore();
});

function interceptOnce(answer: string, contentType: string): Promise<{ headers: object; body: string }> {
  return new Promise((resolve) => {
    nock("https://api.openai.com")
      .post("/v1/chat/completions")
      .reply(async (request: Request) => {
        resolve({ headers: Object.fromEntries(request.headers), body: await request.text() });
        return [200, answer, { "content-type": contentType }];
      });
  });
}

const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "gpt-2026",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi!" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
};

test.serial("the provider receives exactly its own headers and none of the client's", async (t) => {
  const seen = interceptOnce(JSON.stringify(completion), "application/json");
  const sent = JSON.stringify(chatBody("test/model"));
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key.value}`,
      "content-type": "application/json",
      cookie: "session=1",
      "openai-organization": "org-client",
      "x-forwarded-for": "10.0.0.1",
      "user-agent": "client/1.0",
      te: "trailers",
    },
    body: sent,
  });

  t.is(response.status, 200);
  t.deepEqual(await response.json(), { ...completion, model: "test/model" });
  const { headers, body } = await seen;
  const expected = sent.replace("test/model", "upstream-model");
  t.is(body, expected);
  t.deepEqual(headers, {
    host: "api.openai.com",
    connection: "keep-alive",
    authorization: "Bearer upstream-secret-0123456789",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "accept-encoding": "identity",
    "user-agent": "model-gateway",
    "content-length": String(Buffer.byteLength(expected)),
  });
});

test.serial("a stream from a public provider arrives like any other", async (t) => {
  const events = chunkEvent("Grüße, ") + chunkEvent("世界");
  const seen = interceptOnce(events + usageEvent + doneEvent, "text/event-stream; charset=utf-8");

  const answer = await postChat(gateway, key.value, chatBody("test/model", "Hello", { stream: true }));

  t.is(answer.status, 200);
  t.is(answer.text, (events + doneEvent).replaceAll("upstream-model-2026", "test/model"));
  t.deepEqual(JSON.parse((await seen).body).stream_options, { include_usage: true });
  t.like((await usageOf(gateway, key.id))[0], { status: "SUCCEEDED", stream: true, outputTokens: 2 });
});
