import test from "ava";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { postChat } from "../helpers/post-chat.ts";
import {
  beginStream,
  chunkEvent,
  createUpstream,
  doneEvent,
  sendCompletion,
  usageEvent,
} from "../helpers/scripted-upstream.ts";
import { startTestGateway, usageOf } from "../helpers/test-gateway.ts";

test("a response returns as the upstream wrote it except for the model's name", async (t) => {
  const upstream = await createUpstream(t, (_request, response) => sendCompletion(response));
  const gateway = await startTestGateway(t);
  const key = await connectUpstream(gateway, upstream);

  const answer = await postChat(gateway, key.value, {
    model: "test/model",
    messages: [{ role: "user", content: "Hello" }],
  });

  t.is(answer.status, 200);
  t.like(JSON.parse(answer.text), { model: "test/model", choices: [{ message: { content: "Hi!" } }] });
  t.regex(answer.headers.get("x-gateway-overhead-ms") ?? "", /^\d+\.\d\d$/);
  const [record] = await usageOf(gateway, key.id);
  t.like(record, {
    id: answer.headers.get("x-request-id"),
    model: "test/model",
    provider: "test",
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
  const gateway = await startTestGateway(t);
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
    const gateway = await startTestGateway(t);
    const key = await connectUpstream(gateway, upstream);
    const options = includeUsage ? { stream_options: { include_usage: true } } : {};

    const answer = await postChat(gateway, key.value, {
      model: "test/model",
      messages: [{ role: "user", content: "Hello" }],
      stream: true,
      ...options,
    });

    const expected = chunkEvent("Hel") + chunkEvent("lo") + (includeUsage ? usageEvent : "") + doneEvent;
    t.is(answer.text, expected.replaceAll("upstream-model-2026", "test/model"));
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
