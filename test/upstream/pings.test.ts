import test from "ava";
import OpenAI from "openai";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { openChat } from "../helpers/open-chat.ts";
import { chatBody } from "../helpers/post-chat.ts";
import { createPromptedUpstream, type PromptedUpstream } from "../helpers/prompted-upstream.ts";
import { beginStream, chunkEvent, doneEvent } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let upstream: PromptedUpstream;
let gateway: TestGateway;
let key: Awaited<ReturnType<typeof connectUpstream>>;

test.before(async () => {
  upstream = await createPromptedUpstream(shared);
  gateway = await startTestGateway(shared, { environment: { STREAM_PING_INTERVAL_MS: "50" } });
  key = await connectUpstream(gateway, upstream, {
    firstByteTimeoutMs: 2_000,
    idleTimeoutMs: 2_000,
  });
});

const ping = ": ping\n\n";
const pingsIn = (text: string) => text.split(ping).length - 1;

test("a silent upstream causes pings between events, never within one", async (t) => {
  const silences: (() => void)[] = [];
  upstream.scripts.set(t.title, async (response) => {
    beginStream(response);
    const pieces = [chunkEvent("Hel"), chunkEvent("lo").slice(0, 50), chunkEvent("lo").slice(50), doneEvent];
    for (const piece of pieces) {
      response.write(piece);
      await new Promise<void>((resolve) => silences.push(resolve));
    }
    response.end();
  });
  const chat = openChat(gateway, key.value, chatBody(key.model, t.title, { stream: true }));
  for (const pings of [2, 4, 6]) {
    await eventually(() => pingsIn(chat.text()) >= pings && silences.length > 0);
    silences.shift()?.();
  }
  t.true(await chat.ended);

  const expected = chunkEvent("Hel") + chunkEvent("lo") + doneEvent;
  t.is(chat.text().replaceAll(ping, ""), expected.replaceAll("upstream-model-2026", key.model));
  const events = chat.text().split("\n\n");
  t.true(events.slice(0, -1).every((event) => event === ": ping" || event.startsWith("data: ")));
  t.true(events.filter((event) => event === ": ping").length >= 6);
});

test("an upstream without a head causes no pings, so its failure keeps a status", async (t) => {
  upstream.scripts.set(t.title, (response) => {
    setTimeout(() => response.socket?.destroy(), 300);
  });
  const chat = openChat(gateway, key.value, chatBody(key.model, t.title, { stream: true }));
  t.is((await chat.head).statusCode, 502);
  await chat.ended;
  t.is(pingsIn(chat.text()), 0);
});

test("a slow upstream is bridged with pings, and its failure is the only event", async (t) => {
  upstream.scripts.set(t.title, (response) => {
    beginStream(response);
    setTimeout(() => response.end('data: {"error":{"message":"boom"}}\n\n'), 300);
  });
  const chat = openChat(gateway, key.value, chatBody(key.model, t.title, { stream: true }));
  t.true(await chat.ended);
  t.true(pingsIn(chat.text()) >= 2);
  t.regex(chat.text().replaceAll(ping, ""), /^data: \{"error":\{.*"code":"upstream_error"\}\}\n\n$/);
});

test("pings do not extend the upstream's timeout", async (t) => {
  upstream.scripts.set(t.title, (response) => {
    beginStream(response);
    response.write(chunkEvent("Hel"));
  });
  const chat = openChat(gateway, key.value, chatBody(key.model, t.title, { stream: true }));
  t.true(await chat.ended);
  t.true(pingsIn(chat.text()) >= 5);
  t.regex(chat.text(), /"code":"upstream_timeout"\}\}\n\n$/);
  const [record] = (await usageOf(gateway, key.id)).filter(
    ({ errorCode }) => errorCode === "upstream_timeout",
  );
  t.like(record, { status: "FAILED", httpStatus: 200 });
});

test("the OpenAI SDK ignores pings", async (t) => {
  upstream.scripts.set(t.title, async (response) => {
    beginStream(response);
    for (const word of ["Grüße", ", ", "世界"]) {
      response.write(chunkEvent(word));
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    response.end(doneEvent);
  });
  const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key.value, maxRetries: 0 });
  const stream = await openai.chat.completions.create({
    model: key.model,
    messages: [{ role: "user", content: t.title }],
    stream: true,
  });
  let content = "";
  for await (const chunk of stream) {
    t.is(chunk.model, key.model);
    content += chunk.choices[0]?.delta.content ?? "";
  }
  t.is(content, "Grüße, 世界");
});
