import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import test, { type ExecutionContext } from "ava";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { openChat } from "../helpers/open-chat.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createPromptedUpstream, type PromptedUpstream } from "../helpers/prompted-upstream.ts";
import { chunkEvent, doneEvent, usageEvent } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";
import { chatFaults, type Fault, isSlow } from "../helpers/upstream-faults.ts";

// `test/v1/upstream-errors.test.ts` covers statuses and other failures before the response's first byte.
const shared = sharedByFile();
let gateway: TestGateway;
let upstream: PromptedUpstream;

test.before(async () => {
  upstream = await createPromptedUpstream(shared);
  gateway = await startTestGateway(shared, {
    environment: { UPSTREAM_EVENT_BYTES_MAX: "65536", UPSTREAM_ANSWER_BYTES_MAX: "65536" },
  });
  await connectUpstream(gateway, upstream, { name: "patient" });
  await connectUpstream(gateway, upstream, {
    name: "hasty",
    firstByteTimeoutMs: 15_000,
    idleTimeoutMs: 15_000,
    totalTimeoutMs: 15_000,
  });
});

const first = chunkEvent("Grüße, 世界! 😀");
const laterEvents = chunkEvent("né") + usageEvent + doneEvent;
const completion = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "upstream-model-2026",
  choices: [{ index: 0, message: { role: "assistant", content: "Grüße, 世界! 😀" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
});

const ours = (text: string, model: string) => text.replaceAll("upstream-model-2026", model);

const errorBody = JSON.stringify({
  error: { message: "Not now.", type: "some_type", param: null, code: "boom" },
});

for (const fault of chatFaults) {
  for (const stream of [true, false]) {
    for (const begun of fault.isFirst ? [false] : [false, true]) {
      const when = `${begun ? "in the middle of" : "instead of"} ${stream ? "a stream" : "an answer"}`;
      test(`an upstream that ${fault.what} ${when} is handled`, (t) =>
        playFault(t, fault, { stream, begun }));
    }
  }
}

/** With `begun`, the fault occurs in the middle of the response, otherwise before its start. */
async function playFault(
  t: ExecutionContext,
  fault: Fault,
  { stream, begun }: { stream: boolean; begun: boolean },
): Promise<void> {
  const model = isSlow(fault) ? "hasty/model" : "patient/model";
  const key = await createKey(gateway, [model]);
  const chat = Promise.withResolvers<ReturnType<typeof openChat>>();
  const answering = Promise.withResolvers<ServerResponse>();
  upstream.scripts.set(t.title, async (response) => {
    answering.resolve(response);
    const whole = stream ? first + laterEvents : completion;
    const sent = !begun ? "" : stream ? first : completion.slice(0, 100);
    const begin = () => {
      if (response.headersSent) return;
      const type = stream ? "text/event-stream" : "application/json";
      response.writeHead(200, { "content-type": type, ...fault.headers });
      response.flushHeaders();
    };
    if (begun) {
      begin();
      response.write(sent);
      if (stream) await (await chat.promise).received(ours(first, model));
    }
    const rest = Buffer.from(whole.slice(sent.length));
    await fault.play({ response, stream, rest, begin, errorBody });
  });

  const opened = openChat(gateway, key.value, chatBody(model, t.title, { stream }));
  chat.resolve(opened);

  const head = await opened.head;
  t.true(await opened.ended, "the answer is complete as HTTP");
  const isStreamed = stream && (begun || fault.error === null);
  t.is(head.statusCode, fault.error && !isStreamed ? fault.error.status : 200);
  const contentType = isStreamed ? "text/event-stream; charset=utf-8" : "application/json; charset=utf-8";
  t.is(head.headers["content-type"], contentType);

  const before = isStreamed ? ours(first, model) : "";
  t.is(opened.text().slice(0, before.length), before);
  const last = opened.text().slice(before.length);
  if (fault.error === null) {
    t.is(last, ours(stream ? laterEvents.replace(usageEvent, "") : completion, model));
  } else {
    const json = isStreamed ? /^data: (\{.*\})\n\n$/.exec(last)?.[1] : last;
    const { error } = JSON.parse(json ?? "null");
    t.deepEqual(Object.keys(error), ["message", "type", "param", "code"]);
    t.is(error.code, fault.error.code);
  }

  const response = await answering.promise;
  // The connection is closed, or free for the next request.
  await eventually(() => response.closed || response.writableFinished);
  const records = await usageOf(gateway, key.id);
  t.is(records.length, 1);
  t.like(records[0], {
    id: head.headers["x-request-id"],
    status: fault.error === null ? "SUCCEEDED" : "FAILED",
    httpStatus: head.statusCode,
    errorCode: fault.error?.code ?? null,
    stream,
  });
  t.is(records[0]?.errorReason === null, fault.error === null, "no failure is without a reason");
}

test("endless chunks are cut off at the timeout", async (t) => {
  upstream.scripts.set(t.title, async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const timer = setInterval(() => response.write(chunkEvent("on ")), 20);
    response.on("close", () => clearInterval(timer));
  });
  const key = await createKey(gateway, ["hasty/model"]);

  const { text } = await postChat(gateway, key.value, chatBody("hasty/model", t.title, { stream: true }));

  const events = text.split("\n\n").slice(0, -1);
  const last = events.pop() ?? "";
  t.is(JSON.parse(last.slice("data: ".length)).error.code, "upstream_timeout");
  t.true(events.length > 0);
  t.true(events.every((event) => `${event}\n\n` === ours(chunkEvent("on "), "hasty/model")));
  t.like((await usageOf(gateway, key.id))[0], {
    status: "FAILED",
    httpStatus: 200,
    errorCode: "upstream_timeout",
  });
});

test("an upstream that continues after [DONE] is closed, and the request succeeds", async (t) => {
  let closed = false;
  upstream.scripts.set(t.title, (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(first + laterEvents);
    const timer = setInterval(() => response.write(chunkEvent("more")), 20);
    response.on("close", () => {
      clearInterval(timer);
      closed = true;
    });
  });
  const key = await createKey(gateway, ["patient/model"]);

  const { text } = await postChat(gateway, key.value, chatBody("patient/model", t.title, { stream: true }));

  t.is(text, ours(first + laterEvents.replace(usageEvent, ""), "patient/model"));
  await eventually(() => closed);
  const records = await usageOf(gateway, key.id);
  t.deepEqual(
    records.map(({ status }) => status),
    ["SUCCEEDED"],
  );
});

test("an upstream whose pauses are shorter than the idle timeout is not cut off", async (t) => {
  const key = await connectUpstream(gateway, upstream, { name: "steady", idleTimeoutMs: 12_000 });
  upstream.scripts.set(t.title, async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(first);
    // Each pause is a fifth of the timeout, so that a busy machine keeps it, but their sum exceeds the timeout.
    for (let pauses = 0; pauses < 5; pauses++) {
      await wait(2_500);
      response.write(chunkEvent("né"));
    }
    response.end(usageEvent + doneEvent);
  });
  const { text } = await postChat(gateway, key.value, chatBody(key.model, t.title, { stream: true }));
  t.is(text, ours(first + chunkEvent("né").repeat(5) + doneEvent, key.model));
  t.like((await usageOf(gateway, key.id))[0], { status: "SUCCEEDED", errorCode: null });
});

test("the idle timeout between chunks applies even if the first chunk may take longer", async (t) => {
  const key = await connectUpstream(gateway, upstream, {
    name: "thinker",
    firstByteTimeoutMs: 60_000,
    idleTimeoutMs: 500,
  });
  upstream.scripts.set(t.title, (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(first);
  });
  const chat = openChat(gateway, key.value, chatBody(key.model, t.title, { stream: true }));
  await t.notThrowsAsync(chat.received("upstream_timeout"));
});
