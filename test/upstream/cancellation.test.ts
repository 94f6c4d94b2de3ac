import { once } from "node:events";
import { connect } from "node:net";
import type { ServerResponse } from "node:http";
import test from "ava";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually, hangMs } from "../helpers/eventually.ts";
import { openChat } from "../helpers/open-chat.ts";
import { chatBody } from "../helpers/post-chat.ts";
import { createPromptedUpstream, type PromptedUpstream } from "../helpers/prompted-upstream.ts";
import { beginStream, chunkEvent, usageEvent } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let gateway: TestGateway;
let upstream: PromptedUpstream;

test.before(async () => {
  upstream = await createPromptedUpstream(shared);
  gateway = await startTestGateway(shared);
  await connectUpstream(gateway, upstream);
});

/** The progress of the upstream and the client when the client disconnects. */
type Departure = {
  when: string;
  stream: boolean;
  answer(response: ServerResponse): void;
  /** The text that the client awaits before it disconnects. Null if none can have arrived. */
  clientHas: string | null;
  httpStatus: number;
};

const departures: Departure[] = [
  {
    when: "before the first byte of a stream",
    stream: true,
    answer: () => {},
    clientHas: null,
    httpStatus: 499,
  },
  {
    when: "after the head of a stream",
    stream: true,
    answer: beginStream,
    clientHas: null,
    httpStatus: 499,
  },
  {
    when: "mid-stream",
    stream: true,
    answer(response) {
      beginStream(response);
      response.write(chunkEvent("Hel"));
    },
    clientHas: "Hel",
    httpStatus: 200,
  },
  {
    when: "at the last chunk, when only [DONE] is missing",
    stream: true,
    answer(response) {
      beginStream(response);
      response.write(chunkEvent("Hello") + usageEvent);
    },
    clientHas: "Hello",
    httpStatus: 200,
  },
  {
    when: "while a response is generated",
    stream: false,
    answer: () => {},
    clientHas: null,
    httpStatus: 499,
  },
  {
    when: "during a response",
    stream: false,
    answer(response) {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"choices":[');
    },
    clientHas: null,
    httpStatus: 499,
  },
];

/** Sends a request and disconnects. Returns the milliseconds until the upstream connection closes. */
async function leave(departure: Departure, keyValue: string, prompt: string): Promise<number> {
  const answering = Promise.withResolvers<ServerResponse>();
  upstream.scripts.set(prompt, (response) => {
    departure.answer(response);
    answering.resolve(response);
  });
  const chat = openChat(gateway, keyValue, chatBody("test/model", prompt, { stream: departure.stream }));
  const response = await answering.promise;
  if (departure.clientHas !== null) await chat.received(departure.clientHas);

  const socket = response.socket;
  if (socket === null) throw new Error("The upstream's socket has gone by itself.");
  const closed = once(socket, "close", { signal: AbortSignal.timeout(hangMs) });
  const leftAt = performance.now();
  chat.request.destroy();
  await closed;
  return performance.now() - leftAt;
}

for (const departure of departures) {
  test(`a client that leaves ${departure.when} stops the upstream and is cancelled`, async (t) => {
    const key = await createKey(gateway, ["test/model"]);

    await leave(departure, key.value, t.title);

    const records = await usageOf(gateway, key.id);
    t.is(records.length, 1);
    t.like(records[0], {
      status: "CANCELLED",
      httpStatus: departure.httpStatus,
      errorCode: null,
      stream: departure.stream,
      model: "test/model",
      provider: "test",
      upstreamModel: "upstream-model",
    });
    t.is(records[0]?.timeToFirstTokenMs === null, departure.httpStatus === 499);
    // The upstream reported its usage before the client left.
    if (departure.when.startsWith("at the last chunk"))
      t.like(records[0], { inputTokens: 5, outputTokens: 2 });
    t.false(gateway.services.openExchanges.keyIds().includes(key.id));
  });
}

test("a client that leaves at any point of its request leaks nothing", async (t) => {
  const key = await createKey(gateway, ["test/model"]);
  const sockets = new Set<ServerResponse>();
  upstream.scripts.set(t.title, (response) => void sockets.add(response));
  const count = 40;
  for (let index = 0; index < count; index++) {
    const chat = openChat(gateway, key.value, chatBody("test/model", t.title, { stream: index % 2 === 0 }));
    await once(chat.request, "finish");
    for (let turn = 0; turn < index % 20; turn++) await new Promise(setImmediate);
    chat.request.destroy();
  }

  await eventually(() => !gateway.services.openExchanges.keyIds().includes(key.id));
  await eventually(() => [...sockets].every((response) => response.closed));
  const records = await usageOf(gateway, key.id);
  t.true(records.length >= sockets.size);
  t.true(records.every(({ status, httpStatus }) => status === "CANCELLED" && httpStatus === 499));
});

test("a client that leaves while sending is recorded and never reaches the upstream", async (t) => {
  const key = await createKey(gateway, ["test/model"]);
  const { hostname, port } = new URL(gateway.url);
  const client = connect(Number(port), hostname);
  const body = JSON.stringify(chatBody("test/model", t.title));
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key.value}\r\ncontent-length: ${body.length}\r\n\r\n`;
  client.write(head + body.slice(0, -10));
  await eventually(() => gateway.services.openExchanges.keyIds().includes(key.id));

  client.destroy();

  await eventually(() => !gateway.services.openExchanges.keyIds().includes(key.id));
  const records = await usageOf(gateway, key.id);
  t.is(records.length, 1);
  // The body names the model, but is not read before it is complete.
  const unread = { model: "", provider: "", upstreamModel: null };
  t.like(records[0], { status: "CANCELLED", httpStatus: 499, ...unread });
  t.deepEqual(upstream.seen(t.title), []);
});

// Concurrent tests would distort the measured delays.
test.serial("100 clients that leave stop their upstreams at once", async (t) => {
  const key = await createKey(gateway, ["test/model"]);
  const delaysMs: number[] = [];
  for (let index = 0; index < 100; index++) {
    const departure = departures[index % departures.length];
    if (departure) delaysMs.push(await leave(departure, key.value, `${t.title} ${index}`));
  }

  const sorted = delaysMs.toSorted((left, right) => left - right);
  t.log(
    `100 disconnects: p50 ${sorted[49]?.toFixed(1)} ms, p99 ${sorted[98]?.toFixed(1)} ms, longest ${sorted[99]?.toFixed(1)} ms`,
  );
  const records = await usageOf(gateway, key.id);
  t.is(records.length, 100);
  t.true(records.every(({ status }) => status === "CANCELLED"));
  t.is(new Set(records.map(({ id }) => id)).size, 100);
});

test("a client that leaves during the key lookup leaks nothing and is recorded", async (t) => {
  const own = await startTestGateway(t);
  const key = await createKey(own);
  // SQLite runs one operation at a time, so the pending read blocks the key lookup.
  const { promise: thawed, resolve: thaw } = Promise.withResolvers<void>();
  own.services.database.read(() => thawed).catch(() => {});
  const { hostname, port } = new URL(own.url);
  const client = connect(Number(port), hostname);
  const body = JSON.stringify(chatBody("demo/echo"));
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key.value}\r\n`;
  client.write(`${head}expect: 100-continue\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  await once(client, "data");

  client.resetAndDestroy();
  // A later response proves that the gateway has noticed the disconnect.
  for (let turn = 0; turn < 2; turn++) await fetch(`${own.url}/healthz`);
  thaw();

  const records = await eventually(async () => {
    const found = await usageOf(own, key.id);
    return found.length > 0 && found;
  });
  t.like(records, [{ status: "CANCELLED", httpStatus: 499, provider: "" }]);
  t.deepEqual(own.services.openExchanges.keyIds(), []);
});
