import { createHash } from "node:crypto";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import test from "ava";
import OpenAI from "openai";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually, hangMs } from "../helpers/eventually.ts";
import { type OpenChat, openChat } from "../helpers/open-chat.ts";
import { chatBody } from "../helpers/post-chat.ts";
import { createPromptedUpstream, type PromptedUpstream } from "../helpers/prompted-upstream.ts";
import { beginStream, chunkEvent, doneEvent, usageEvent } from "../helpers/scripted-upstream.ts";
import { cutAnywhere, type SeededRandom, seededRandom } from "../helpers/seeded-random.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

const seed = Number(process.env["TEST_SEED"] ?? 20_260_101);
const streams = 300;
const atOnce = 20;

const endings: Record<string, (response: ServerResponse) => void> = {
  "[DONE]": (response) => response.end(usageEvent + doneEvent),
  reset: (response) => response.socket?.resetAndDestroy(),
  "half an event": (response) =>
    response.write(chunkEvent("lost").slice(0, 40), () => response.socket?.end()),
  "no [DONE]": (response) => response.end(),
  "usage but no [DONE]": (response) => response.end(usageEvent),
  garbage: (response) => response.end(`data: <html>\n\n${doneEvent}`),
  "an error": (response) => response.end(`data: {"error":{"message":"boom"}}\n\n${doneEvent}`),
  "no HTTP": (response) => response.socket?.end("zzz\r\n"),
  "an endless event": (response) => void response.write(`data: {"a":"${"a".repeat(20_000)}`),
};
const endingNames = Object.keys(endings).filter((name) => name !== "[DONE]") as [string, ...string[]];

type Plan = { events: string[]; ending: string; includeUsage: boolean; pieceBytesMax: number };

function makePlan(random: SeededRandom): Plan {
  const word = () =>
    random.pick(["a", "Grüße ", "世界", "😀", '"model":"x"', "\n\ndata: [DONE]\n\n", "\\", "x".repeat(100)]);
  const event = () => (random.chance(0.1) ? ": working\n\n" : chunkEvent(word() + word()));
  return {
    events: Array.from({ length: random.upTo(12) }, event),
    ending: random.chance(0.4) ? "[DONE]" : random.pick(endingNames),
    includeUsage: random.chance(0.5),
    pieceBytesMax: random.pick([1, 5, 50, 1_000, 100_000]),
  };
}

function expectedText({ events, ending, includeUsage }: Plan): string {
  const hasUsage = includeUsage && ending.startsWith("usage") ? usageEvent : "";
  const last = ending === "[DONE]" ? (includeUsage ? usageEvent : "") + doneEvent : hasUsage;
  return (events.join("") + last).replaceAll("upstream-model-2026", "random/model");
}

const hash = (text: string) => createHash("sha256").update(text).digest("hex");

test(`${streams} randomly cut and broken streams all end correctly`, async (t) => {
  const random = seededRandom(seed);
  const gateway = await startTestGateway(t, { environment: { UPSTREAM_EVENT_BYTES_MAX: "16384" } });
  const upstream = await createPromptedUpstream(t);
  const key = await connectUpstream(gateway, upstream, { name: "random" });
  const figures = { succeeded: 0, failed: 0, beforeFirstByte: 0, bytes: 0 };
  const statuses = new Map<string, string>();

  const playOne = async (index: number) => {
    const plan = makePlan(random);
    const pieces = cutAnywhere(Buffer.from(plan.events.join("")), random, plan.pieceBytesMax);
    const chat = Promise.withResolvers<OpenChat>();
    upstream.scripts.set(`plan ${index}`, async (response) => {
      beginStream(response);
      for (const piece of pieces) {
        response.write(piece);
        await nextTurn();
      }
      // A reset may overtake earlier data, so the test waits until the client has everything.
      const sent = expectedText({ ...plan, ending: "" });
      if (plan.ending === "reset" || plan.ending === "no HTTP") await (await chat.promise).received(sent);
      endings[plan.ending]?.(response);
    });
    const options = { stream: true, ...(plan.includeUsage && { stream_options: { include_usage: true } }) };
    const opened = openChat(gateway, key.value, chatBody(key.model, `plan ${index}`, options));
    chat.resolve(opened);
    const head = await opened.head;
    const isWhole = await opened.ended;

    const what = `seed ${seed}, stream ${index}: ${plan.ending} after ${plan.events.length} events`;
    // A stream without any choice is an error.
    const isEmpty = plan.events.length === 0;
    const expected = isEmpty ? "" : expectedText(plan);
    const failed = plan.ending !== "[DONE]" || isEmpty;
    const hasBegun = expected !== "";
    t.true(isWhole, what);
    t.is(head.statusCode, failed && !hasBegun ? 502 : 200, what);
    const [, relayed = "", error = ""] =
      /^(.*?)((?:data: )?\{"error":\{[^\n]*\}\}(?:\n\n)?)?$/s.exec(opened.text()) ?? [];
    t.is(hash(relayed), hash(expected), what);
    t.is(error.includes('"code":"upstream_error"'), failed, what);
    t.is(error.startsWith("data: "), failed && hasBegun, what);
    statuses.set(String(head.headers["x-request-id"]), failed ? "FAILED" : "SUCCEEDED");
    figures[failed ? "failed" : "succeeded"] += 1;
    figures.beforeFirstByte += failed && !hasBegun ? 1 : 0;
    figures.bytes += opened.text().length;
  };

  let next = 0;
  const playMany = async () => {
    while (next < streams) await playOne(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, playMany));

  const { recorder, database } = gateway.services;
  await recorder.flush();
  const records = await database.read(({ usageRecords }) => usageRecords.listByKey(key.id, streams * 2));
  t.is(records.length, streams);
  for (const { id, status } of records) t.is(status, statuses.get(id) as typeof status, id);
  await eventually(() => gateway.services.openExchanges.keyIds().length === 0);
  t.log(
    `seed ${seed}: ${streams} streams, ${figures.succeeded} succeeded, ${figures.failed} failed ` +
      `(${figures.beforeFirstByte} before the first byte), ${figures.bytes} bytes, 0 wrong, 0 unaccounted`,
  );
});

const shared = sharedByFile();
let upstream: PromptedUpstream;
let gateway: TestGateway;
/** Unlike `gateway`, it sends no pings. */
let quietGateway: TestGateway;
let key: Awaited<ReturnType<typeof connectUpstream>>;

test.before(async () => {
  upstream = await createPromptedUpstream(shared);
  gateway = await startTestGateway(shared, { environment: { STREAM_PING_INTERVAL_MS: "50" } });
  key = await connectUpstream(gateway, upstream, {
    firstByteTimeoutMs: 15_000,
    idleTimeoutMs: 15_000,
  });
  quietGateway = await startTestGateway(shared);
  await connectUpstream(quietGateway, upstream);
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
  const pinged = Promise.withResolvers<void>();
  upstream.scripts.set(t.title, async (response) => {
    beginStream(response);
    await pinged.promise;
    response.end('data: {"error":{"message":"boom"}}\n\n');
  });
  const chat = openChat(gateway, key.value, chatBody(key.model, t.title, { stream: true }));
  await eventually(() => pingsIn(chat.text()) >= 2);
  pinged.resolve();
  t.true(await chat.ended);
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

// Garbage must not count as kept memory.
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const MB = 1024 * 1024;
const event = chunkEvent("x".repeat(64 * 1024));
const events = 800;
const totalBytes = event.length * events;

/** Sends the whole stream as fast as the gateway accepts it. `accepted` counts the bytes. */
function pour(accepted: { bytes: number }) {
  return async (response: ServerResponse) => {
    beginStream(response);
    const closed = once(response, "close");
    for (let index = 0; index < events && !response.destroyed; index++) {
      if (!response.write(event)) {
        const drained = Promise.withResolvers<void>();
        response.once("drain", drained.resolve);
        await Promise.race([drained.promise, closed]);
      }
      accepted.bytes += event.length;
    }
    response.end(doneEvent);
  };
}

/** Waits until the gateway has accepted no byte for at least half a second. */
async function standstill(accepted: { bytes: number }): Promise<void> {
  let last = -1;
  let times = 0;
  await eventually(() => {
    times = accepted.bytes === last ? times + 1 : 0;
    last = accepted.bytes;
    return times >= 50;
  });
}

test.serial("a client that pauses reading pauses the upstream and receives every byte", async (t) => {
  const accepted = { bytes: 0 };
  upstream.scripts.set(t.title, pour(accepted));
  const key = await createKey(quietGateway, ["test/model"]);
  collectGarbage();
  const memoryBefore = process.memoryUsage();
  const chat = openChat(quietGateway, key.value, chatBody("test/model", t.title, { stream: true }));
  const response = await chat.head;
  response.pause();

  await standstill(accepted);
  const stoppedAt = accepted.bytes;
  const { rss } = process.memoryUsage();
  // The system's buffers of both connections also hold data, and their size is unknown.
  t.true(stoppedAt < totalBytes / 2, `stopped after ${stoppedAt / MB} MB`);
  // Another thread frees buffers some time after their collection.
  let keptBytes = Infinity;
  await eventually(() => {
    collectGarbage();
    keptBytes = process.memoryUsage().arrayBuffers - memoryBefore.arrayBuffers;
    return keptBytes < 4 * MB;
  });

  const hash = createHash("sha256");
  let bytes = 0;
  response.removeAllListeners("data");
  response.on("data", (chunk: Buffer) => {
    hash.update(chunk);
    bytes += chunk.length;
  });
  response.resume();
  t.true(await chat.ended);

  const expected = createHash("sha256");
  const ours = event.replace("upstream-model-2026", "test/model");
  for (let index = 0; index < events; index++) expected.update(ours);
  expected.update(doneEvent);
  t.is(bytes, ours.length * events + doneEvent.length);
  t.is(hash.digest("hex"), expected.digest("hex"));
  t.like((await usageOf(quietGateway, key.id))[0], { status: "SUCCEEDED", httpStatus: 200 });
  t.log(
    `${(totalBytes / MB).toFixed(0)} MB: paused after ${(stoppedAt / MB).toFixed(1)} MB, ` +
      `RSS + ${((rss - memoryBefore.rss) / MB).toFixed(0)} MB, buffers + ${(keptBytes / MB).toFixed(1)} MB`,
  );
});

test.serial("a client that never reads is cut off, and its request is recorded as cancelled", async (t) => {
  const impatient = await startTestGateway(t, {
    environment: { CLIENT_STALL_TIMEOUT_MS: "500", STREAM_PING_INTERVAL_MS: "500" },
  });
  const key = await connectUpstream(impatient, upstream);
  const accepted = { bytes: 0 };
  const answering = Promise.withResolvers<ServerResponse>();
  upstream.scripts.set(t.title, (response) => {
    answering.resolve(response);
    return pour(accepted)(response);
  });
  const chat = openChat(impatient, key.value, chatBody(key.model, t.title, { stream: true }));
  const response = await chat.head;
  response.pause();

  const upstreamResponse = await answering.promise;
  await eventually(() => upstreamResponse.closed);
  t.true(accepted.bytes < totalBytes / 2);
  const records = await usageOf(impatient, key.id);
  t.is(records.length, 1);
  t.like(records[0], { status: "CANCELLED", httpStatus: 200 });

  // Buffered data may still arrive before the connection breaks.
  response.resume();
  const isWhole = await Promise.race([chat.ended, wait(hangMs, "still open", { ref: false })]);
  t.is(isWhole, false);
  t.false(chat.text().includes("[DONE]"));
});

test.serial("a slowly reading client is not cut off", async (t) => {
  const impatient = await startTestGateway(t, {
    environment: { CLIENT_STALL_TIMEOUT_MS: "12000", STREAM_PING_INTERVAL_MS: "300" },
  });
  const key = await connectUpstream(impatient, upstream, { idleTimeoutMs: 12_000 });
  upstream.scripts.set(t.title, pour({ bytes: 0 }));
  const chat = openChat(impatient, key.value, chatBody(key.model, t.title, { stream: true }));
  const response = await chat.head;
  // Each pause is shorter than the stall timeout, but their sum exceeds it.
  let bytes = 0;
  let rests = 0;
  response.removeAllListeners("data");
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes < (rests + 1) * 8 * MB) return;
    rests++;
    response.pause();
    setTimeout(() => response.resume(), 2_500);
  });

  t.true(await chat.ended);

  t.true(rests >= 5);
  t.is((await usageOf(impatient, key.id))[0]?.status, "SUCCEEDED");
});
