import { connect } from "node:net";
import { once } from "node:events";
import test, { type ExecutionContext } from "ava";
import { WebSocket } from "ws";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually, hangMs, succeeds } from "../helpers/eventually.ts";
import { openSocket, responseOf } from "../helpers/responses-socket.ts";
import {
  beginStream,
  chunkEvent,
  createUpstream,
  doneEvent,
  usageEvent,
} from "../helpers/scripted-upstream.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

const limits = { REQUEST_BODY_BYTES_MAX: "1000000", REQUEST_BODIES_BYTES_MAX: "4000000" };
const model = "demo/echo";

/** Starts a gateway with a key. `open` connects with this key or another. */
async function start(t: ExecutionContext, environment: Record<string, string> = {}) {
  const gateway = await startTestGateway(t, { environment });
  const { id, value } = await createKey(gateway);
  return { gateway, id, value, open: (key = value) => openSocket(t, gateway, key) };
}

test("a message beyond REQUEST_BODY_BYTES_MAX closes the connection", async (t) => {
  const { gateway, open } = await start(t, limits);
  const socket = await open();
  socket.send("x".repeat(1_000_001));
  t.is(await socket.closed(), 1009);
  await eventually(() => gateway.services.bodyBudget.bytes === 0);
});

test("unfinished messages count against the memory of their key, and are freed", async (t) => {
  const { gateway, open } = await start(t, limits);
  const { value: other } = await createKey(gateway);
  const { bodyBudget } = gateway.services;
  const sockets = await Promise.all([1, 2, 3].map(() => open()));
  // One key may use at most half of REQUEST_BODIES_BYTES_MAX, so the third message does not fit.
  for (const { socket } of sockets) socket.send("x".repeat(900_000), { fin: false });
  await eventually(() => sockets.some(({ socket }) => socket.readyState === WebSocket.CLOSED));
  t.true(bodyBudget.bytes <= 2_000_000);
  const neighbour = await open(other);
  t.is(responseOf(await neighbour.turn({ model, input: "Hi" })).status, "completed");
  for (const { socket } of sockets) socket.terminate();
  neighbour.socket.terminate();
  await eventually(() => bodyBudget.bytes === 0);
  t.pass();
});

test("a key has RESPONSES_SOCKETS_PER_KEY_MAX connections, and others are not affected", async (t) => {
  const { gateway, open } = await start(t, { RESPONSES_SOCKETS_PER_KEY_MAX: "2" });
  const first = await open();
  await open();
  t.is((await t.throwsAsync(open()))?.message, "Unexpected server response: 429");
  await open((await createKey(gateway)).value);
  first.socket.terminate();
  await eventually(() => succeeds(open()));
  t.pass();
});

test("a process has RESPONSES_SOCKETS_MAX connections over all keys", async (t) => {
  const { gateway, open } = await start(t, { RESPONSES_SOCKETS_MAX: "2" });
  const [second, third] = await Promise.all([createKey(gateway), createKey(gateway)]);
  const { socket } = await open();
  await open(second.value);
  t.is((await t.throwsAsync(open(third.value)))?.message, "Unexpected server response: 429");
  socket.terminate();
  await eventually(() => succeeds(open(third.value)));
});

test("more than RESPONSES_SOCKET_TURNS_MAX open turns are refused", async (t) => {
  const { open } = await start(t, { RESPONSES_SOCKET_TURNS_MAX: "2" });
  const socket = await open();
  for (const stream_id of ["a", "b", "b"])
    socket.send({ type: "response.create", model, input: "/hang", stream_id });
  const error = await socket.until(() => socket.frames.find(({ type }) => type === "error"));
  t.like(error, { status: 429, headers: { "retry-after": "1" } });
});

test.serial("a client that sends turns and reads nothing is cut off, with bounded memory", async (t) => {
  const text = "x".repeat(1_000_000);
  const upstream = await createUpstream(t, (_request, response) => {
    const choices = [{ index: 0, delta: { content: text }, finish_reason: "stop" }];
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify({ id: "c", choices })}\n\ndata: [DONE]\n\n`);
  });
  const environment = { CLIENT_STALL_TIMEOUT_MS: "5000", STREAM_PING_INTERVAL_MS: "50" };
  const gateway = await startTestGateway(t, { environment });
  const key = await connectUpstream(gateway, upstream);
  const advance = controlClock(t);
  const socket = await openSocket(t, gateway, key.value);
  socket.socket.pause();
  for (let turn = 0; turn < 10; turn++)
    socket.send({ type: "response.create", model: key.model, input: "Hi" });
  await eventually(() => gateway.services.openExchanges.count().requests > 0 || upstream.requests.length > 0);
  await eventually(() => {
    advance(500);
    return gateway.services.bodyBudget.bytes === 0;
  });
  t.true(upstream.requests.length < 10, String(upstream.requests.length));
  socket.socket.resume();
  t.is(await socket.closed(), 1006);
});

test.serial("a client that does not answer pings is cut off", async (t) => {
  const environment = { CLIENT_STALL_TIMEOUT_MS: "20000", STREAM_PING_INTERVAL_MS: "50" };
  const { gateway, value, open } = await start(t, environment);
  const advance = controlClock(t);
  const headers = { authorization: `Bearer ${value}` };
  const url = `${gateway.url.replace("http", "ws")}/v1/responses`;
  const silent = new WebSocket(url, { headers, autoPong: false });
  await once(silent, "open");
  const live = await open();
  advance(15_000);
  await live.turn({ model, input: "Hi" });
  t.is(silent.readyState, WebSocket.OPEN);
  advance(15_000);
  await once(silent, "close");
  t.is((await live.turn({ model, input: "Hi" })).at(-1)?.type, "response.completed");
});

test.serial("a connection older than RESPONSES_SOCKET_MS_MAX closes between two turns", async (t) => {
  const gate = Promise.withResolvers<void>();
  const upstream = await createUpstream(t, async (_request, response) => {
    beginStream(response);
    response.write(chunkEvent("one"));
    await gate.promise;
    response.end(usageEvent + doneEvent);
  });
  const environment = { RESPONSES_SOCKET_MS_MAX: "10000", STREAM_PING_INTERVAL_MS: "50" };
  const gateway = await startTestGateway(t, { environment });
  const key = await connectUpstream(gateway, upstream);
  const advance = controlClock(t);
  const socket = await openSocket(t, gateway, key.value);
  socket.send({ type: "response.create", model: key.model, input: "Hi" });
  await socket.until(() => socket.frames.find(({ delta }) => delta === "one"));
  advance(10_001);
  // The gateway pings at each check of the connection. The second ping proves that a check saw the advanced clock.
  for (const _ of [1, 2]) await once(socket.socket, "ping");
  gate.resolve();
  t.is(await socket.closed(), 1000);
  const types = socket.frames.map(({ type }) => type);
  t.deepEqual(types.slice(-2), ["response.completed", "error"]);
  t.is(socket.frames.at(-1)?.error?.code, "websocket_connection_limit_reached");
});

/** Freezes the process's `performance.now` and returns a function that advances it. Callers must be serial tests. */
function controlClock(t: ExecutionContext): (ms: number) => void {
  const { now } = performance;
  let time = now.call(performance);
  performance.now = () => time;
  t.teardown(() => {
    performance.now = now;
  });
  return (ms) => {
    time += ms;
  };
}

test("a deactivated key's idle connection is closed", async (t) => {
  const { gateway, id, open } = await start(t, { STREAM_PING_INTERVAL_MS: "50" });
  const socket = await open();
  await gateway.admin.keys.deactivate.mutate({ id });
  t.is(await socket.closed(), 1008);
});

test("a shutdown closes idle connections at once and others after their turn", async (t) => {
  const { gateway, open } = await start(t, { DRAIN_TIMEOUT_MS: String(hangMs) });
  const idle = await open();
  const busy = await open();
  busy.send({ type: "response.create", model, input: "/slow 100 one two three" });
  await busy.until(() => busy.frames[0]);
  const closing = gateway.close();
  t.is(await idle.closed(), 1001);
  t.is(await busy.closed(), 1001);
  t.is(busy.frames.at(-1)?.type, "response.completed");
  await closing;
});

for (const [title, lines] of [
  ["an invalid Sec-WebSocket-Key", ["Sec-WebSocket-Key: no", "Sec-WebSocket-Version: 13"]],
  ["another version", ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 7"]],
] as const) {
  test(`a handshake with ${title} gets 400 in the usual form`, async (t) => {
    const { gateway, value } = await start(t);
    const { port } = new URL(gateway.url);
    const socket = connect(Number(port), "127.0.0.1");
    const head = ["GET /v1/responses HTTP/1.1", "Host: x", `Authorization: Bearer ${value}`];
    head.push("Connection: Upgrade", "Upgrade: websocket", ...lines);
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    let answer = "";
    for await (const chunk of socket) answer += String(chunk);
    t.regex(answer, /^HTTP\/1\.1 400 /);
    t.regex(answer, /"type":"invalid_request_error"/);
  });
}

test("a stranger whose handshake was refused cannot keep the connection half open", async (t) => {
  const gateway = await startTestGateway(t);
  const { port } = new URL(gateway.url);
  const socket = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
  t.teardown(() => socket.destroy());
  const head = ["GET /v1/responses HTTP/1.1", "Host: x", "Authorization: Bearer sk-other"];
  head.push("Connection: Upgrade", "Upgrade: websocket");
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")));
  socket.on("error", () => {});
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  await once(socket, "end");
  t.regex(answer, /^HTTP\/1\.1 401 /);
  // The half-open socket detects the closed connection only when it writes.
  await eventually(() => socket.destroyed || (socket.write("more"), false));
});
