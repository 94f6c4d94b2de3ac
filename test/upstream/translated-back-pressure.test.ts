import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import test, { type ExecutionContext } from "ava";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { anthropicForm, claudeHaiku } from "../helpers/native-upstreams/anthropic-upstream.ts";
import { bedrockForm } from "../helpers/native-upstreams/bedrock-upstream.ts";
import { geminiForm } from "../helpers/native-upstreams/gemini-upstream.ts";
import type { Answer, VendorForm } from "../helpers/native-upstreams/native-upstream.ts";
import { openChat } from "../helpers/open-chat.ts";
import { chatBody } from "../helpers/post-chat.ts";
import { isFull } from "../helpers/scale.ts";
import { createUpstream } from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { usageOf } from "../helpers/test-gateway.ts";

// Garbage must not count as kept memory.
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const MB = 1024 * 1024;
const sharedGateway = shareGateway();

// `dialled` contains the process's client sockets, `accepted` the gateway's server sockets by client port.
// Their byte counts show how much the gateway holds, without the system's buffers.
const dialled = new Set<Socket>();
const accepted = new Map<number | undefined, Socket>();

test.before(() => {
  const { port } = new URL(sharedGateway().url);
  subscribe("net.client.socket", (message) => {
    dialled.add((message as { socket: Socket }).socket);
  });
  subscribe("http.server.request.start", (message) => {
    const { socket } = message as { socket: Socket };
    if (String(socket.localPort) === port) accepted.set(socket.remotePort, socket);
  });
});

const geminiFlash = geminiForm({ name: "gemini-2.5-flash", generation: 2 });
const forms = [anthropicForm(claudeHaiku), geminiFlash, bedrockForm];

for (const form of forms) {
  test.serial(`${form.kind}: slow or stalled clients pause their upstream`, async (t) => {
    const upstream = await connectPouring(t, form, { pieces: 1_000, text: "x".repeat(64 * 1024) });
    collectGarbage();
    const before = process.memoryUsage();
    const clients = ["a", "b", "c", "d", "e", "f", "g", "h"].map((letter) => `client ${letter}`);
    const streams = await Promise.all(clients.map((prompt) => upstream.open(prompt)));
    const slow = streams.slice(0, clients.length / 2);

    let heldMost = 0;
    for (const bytes of [0, MB, MB]) {
      if (bytes > 0) await Promise.all(slow.map(({ response }) => readSome(response, bytes)));
      await standstill(streams);
      for (const { poured, from, to } of streams) {
        t.true(poured.writableNeedDrain, "the upstream got rid of everything");
        const heldBytes = from.bytesRead - (to.bytesWritten - to.writableLength);
        t.true(heldBytes <= MB, `${inMB(heldBytes)} are held`);
        heldMost = Math.max(heldMost, heldBytes);
      }
    }
    // The resident set also contains freed memory, so its growth is only logged.
    const rssMore = process.memoryUsage().rss - before.rss;
    const keptBytes = await keptAtMost(16 * MB, before);

    for (const { chat } of streams) chat.request.destroy();
    await eventually(() => streams.every(({ poured }) => poured.closed));
    const records = await usageOf(sharedGateway(), upstream.keyId);
    t.is(records.filter(({ status }) => status === "CANCELLED").length, streams.length);
    t.log(
      `8 × 62 MB: held ${inMB(heldMost)} of one at most, kept ${inMB(keptBytes)}, RSS + ${inMB(rssMore)}`,
    );
  });

  // Below full scale, only one kind is tested.
  const declare = isFull || form === geminiFlash ? test.serial : test.serial.skip;
  declare(`${form.kind}: 100 MB of a stream leak nothing`, async (t) => {
    const pieces = 25_600;
    const text = "x".repeat(4 * 1024);
    const upstream = await connectPouring(t, form, { pieces, text });
    const { chat, response } = await upstream.open("all of it");
    const events = readEvents(response);
    response.resume();

    await eventually(() => countOf(events) >= pieces / 10);
    collectGarbage();
    const before = process.memoryUsage();
    await eventually(() => countOf(events) === pieces);
    collectGarbage();
    const heapMore = process.memoryUsage().heapUsed - before.heapUsed;
    // The limit is about 91 bytes per event.
    t.true(heapMore < 2 * MB, `heap + ${inMB(heapMore)}`);
    const keptBytes = await keptAtMost(16 * MB, before);

    upstream.mayEnd.resolve();
    t.true(await chat.ended);
    t.deepEqual(
      events.map(({ times }) => times),
      [1, pieces - 1, 1, 1],
    );
    const [first, others, finish, done] = events.map(({ event }) => event);
    t.like(parseChoice(first), { delta: { role: "assistant", content: text } });
    t.deepEqual(parseChoice(others)["delta"], { content: text });
    t.like(parseChoice(finish), { finish_reason: "stop" });
    t.is(done, "data: [DONE]");
    const [record] = await usageOf(sharedGateway(), upstream.keyId);
    t.like(record, { status: "SUCCEEDED", outputTokens: pieces });
    t.log(`heap + ${inMB(heapMore)}, kept ${inMB(keptBytes)}`);
  });
}

function inMB(bytes: number): string {
  return `${(bytes / MB).toFixed(2)} MB`;
}

type Stream = Awaited<ReturnType<Awaited<ReturnType<typeof connectPouring>>["open"]>>;

async function connectPouring(t: ExecutionContext, form: VendorForm, said: { pieces: number; text: string }) {
  const gateway = sharedGateway();
  const responses = new Map<string, ServerResponse>();
  const mayEnd = Promise.withResolvers<void>();
  const answer: Answer = {
    thoughts: [],
    text: [said.text],
    calls: [],
    finish: "stop",
    usage: { input: 5, cached: 0, cacheWritten: 0, output: said.pieces, thinking: 0 },
    ending: "complete",
  };
  const { url } = await createUpstream(t, async (request, response) => {
    const asked = form.read(request);
    responses.set(JSON.stringify(asked.turns), response);
    const start = form.streamStart(answer, asked);
    response.writeHead(200, { "content-type": form.streamContentType });
    response.write(Buffer.concat(start));
    // The last start event contains the text.
    await pour(response, start.at(-1) ?? Buffer.alloc(0), said.pieces - 1);
    await mayEnd.promise;
    response.end(Buffer.concat(form.streamEnd(answer, asked)));
  });
  const { kind, credential: apiKey } = form;
  const name = `${kind}-${new URL(url).port}`;
  const settings = { name, kind, path: "", apiKey, upstreamModel: form.model };
  const key = await connectUpstream(gateway, { url: form.baseUrl(url) }, settings);

  return {
    keyId: key.id,
    /** The upstream keeps the stream open until `mayEnd` resolves. */
    mayEnd,
    /** Returns an unread stream with all ends of its two connections. */
    async open(prompt: string) {
      const body = chatBody(key.model, prompt, { stream: true, max_tokens: 1_000 });
      const chat = openChat(gateway, key.value, body);
      const response = await chat.head;
      response.pause();
      response.removeAllListeners("data");
      const [, poured] = [...responses].find(([turns]) => turns.includes(prompt)) ?? [];
      const from = [...dialled].find(({ localPort }) => localPort === poured?.socket?.remotePort);
      const to = accepted.get(chat.request.socket?.localPort);
      if (!poured || !from || !to) throw new Error("The stream was not seen to pass.");
      return { chat, response, poured, from, to };
    },
  };
}

async function pour(response: ServerResponse, bytes: Buffer, times: number): Promise<void> {
  const closed = once(response, "close");
  for (let time = 0; time < times && !response.destroyed; time++) {
    if (response.write(bytes)) continue;
    const drained = Promise.withResolvers<void>();
    response.once("drain", drained.resolve);
    await Promise.race([drained.promise, closed]);
  }
}

async function readSome(response: IncomingMessage, bytes: number): Promise<void> {
  const enough = Promise.withResolvers<void>();
  let left = bytes;
  const take = (chunk: Buffer) => {
    left -= chunk.length;
    if (left > 0) return;
    response.pause();
    enough.resolve();
  };
  response.on("data", take);
  response.resume();
  await enough.promise;
  response.off("data", take);
}

/** Waits until the kept memory is at most `bytesMax`. Another thread frees buffers some time after their collection. */
async function keptAtMost(bytesMax: number, { heapUsed: heapBefore }: NodeJS.MemoryUsage): Promise<number> {
  return eventually(() => {
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    const keptBytes = heapUsed - heapBefore + arrayBuffers;
    return keptBytes <= bytesMax && keptBytes;
  });
}

/** Waits until no data has moved for at least 100 ms. */
async function standstill(streams: Stream[]): Promise<void> {
  let last = "";
  let times = 0;
  await eventually(() => {
    const counts = streams.flatMap(({ from, to }) => [from.bytesRead, to.bytesWritten, to.writableLength]);
    times = counts.join() === last ? times + 1 : 0;
    last = counts.join();
    return times >= 10;
  });
}

/** Collects the events. Equal consecutive events share an entry. */
function readEvents(response: IncomingMessage): CountedEvent[] {
  const counted: CountedEvent[] = [];
  let rest = "";
  response.on("data", (bytes: Buffer) => {
    const events = (rest + bytes.toString("latin1")).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      const last = counted.at(-1);
      if (last?.event === event) last.times++;
      else counted.push({ event, times: 1 });
    }
  });
  return counted;
}

type CountedEvent = { event: string; times: number };

function countOf(events: CountedEvent[]): number {
  return events.reduce((sum, { times }) => sum + times, 0);
}

function parseChoice(event: string | undefined): Record<string, unknown> {
  const { choices } = JSON.parse(event?.replace("data: ", "") ?? "") as {
    choices: Record<string, unknown>[];
  };
  return choices[0] ?? {};
}
