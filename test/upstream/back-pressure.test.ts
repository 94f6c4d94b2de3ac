import { createHash } from "node:crypto";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import test from "ava";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { openChat } from "../helpers/open-chat.ts";
import { chatBody } from "../helpers/post-chat.ts";
import { createPromptedUpstream, type PromptedUpstream } from "../helpers/prompted-upstream.ts";
import { beginStream, chunkEvent, doneEvent } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

// Garbage must not count as kept memory.
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const MB = 1024 * 1024;
const event = chunkEvent("x".repeat(64 * 1024));
const events = 800;
const totalBytes = event.length * events;

const shared = sharedByFile();
let upstream: PromptedUpstream;
let gateway: TestGateway;

test.before(async () => {
  upstream = await createPromptedUpstream(shared);
  gateway = await startTestGateway(shared);
  await connectUpstream(gateway, upstream);
});

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
  const key = await createKey(gateway, ["test/model"]);
  collectGarbage();
  const memoryBefore = process.memoryUsage();
  const chat = openChat(gateway, key.value, chatBody("test/model", t.title, { stream: true }));
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
  t.like((await usageOf(gateway, key.id))[0], { status: "SUCCEEDED", httpStatus: 200 });
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
  const isWhole = await Promise.race([chat.ended, wait(5_000, "still open", { ref: false })]);
  t.is(isWhole, false);
  t.false(chat.text().includes("[DONE]"));
});

test.serial("a slowly reading client is not cut off", async (t) => {
  const impatient = await startTestGateway(t, {
    environment: { CLIENT_STALL_TIMEOUT_MS: "1000", STREAM_PING_INTERVAL_MS: "300" },
  });
  const key = await connectUpstream(impatient, upstream, { idleTimeoutMs: 1_000 });
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
    setTimeout(() => response.resume(), 400);
  });

  t.true(await chat.ended);

  t.true(rests >= 5);
  t.is((await usageOf(impatient, key.id))[0]?.status, "SUCCEEDED");
});
