import { execFile } from "node:child_process";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import test from "ava";
import { NetworkCall } from "../../gateway/upstream/connection.ts";
import { callUpstream, createUpstreams } from "../helpers/call-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { createRawUpstream, type RawConnection } from "../helpers/raw-upstream.ts";

const hello = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";

test("the queue for connections is limited, and excess calls fail at once", async (t) => {
  const upstreams = createUpstreams(t, { upstreamConnectionsMax: 1, upstreamQueuedCallsMax: 2 });
  const answers: (() => void)[] = [];
  const { url, connections } = await createRawUpstream(t, ({ socket }) => {
    answers.push(() => socket.write(hello));
  });
  const served = [callUpstream(upstreams, url)];
  await eventually(() => answers.length === 1);
  served.push(callUpstream(upstreams, url), callUpstream(upstreams, url));
  const refused = await callUpstream(upstreams, url).outcome;
  t.regex(refused.error ?? "", /^service_unavailable: Too many requests are waiting/);
  t.false(refused.wasSent);

  for (let index = 0; index < 3; index++) {
    await eventually(() => answers.length === index + 1);
    answers[index]?.();
    t.like(await served[index]?.outcome, { error: null, body: "hello" });
  }
  t.like(connections, { length: 1 });
  const late = callUpstream(upstreams, url);
  await eventually(() => answers.length === 4);
  answers[3]?.();
  t.like(await late.outcome, { error: null });
});

test("an idle connection closes at its time limit", async (t) => {
  const upstreams = createUpstreams(t, { upstreamConnectionsMax: 1, upstreamKeepAliveTimeoutMs: 15_000 });
  const { url, connections } = await createRawUpstream(t, ({ socket }) => socket.write(hello));
  await callUpstream(upstreams, url).outcome;
  await callUpstream(upstreams, url).outcome;
  t.is(connections.length, 1);
  await eventually(() => connections[0]?.isClosed);
});

test("heads, including provisional ones, have a size limit", async (t) => {
  const upstreams = createUpstreams(t, { upstreamHeadBytesMax: 100 });
  const { url } = await createRawUpstream(t, ({ socket }, request) => {
    const [, bytes = "0"] = /\/(\d+)/.exec(request) ?? [];
    const early = "HTTP/1.1 103 X";
    const rest = hello.indexOf("\r\n\r\n") + "\r\nx: ".length + early.length;
    socket.write(
      `${early}\r\n\r\n${hello.replace("\r\n", `\r\nx: ${"y".repeat(Number(bytes) - rest)}\r\n`)}`,
    );
  });
  t.like(await callUpstream(upstreams, `${url}/100`).outcome, { error: null, body: "hello" });
  t.like(await callUpstream(upstreams, `${url}/101`).outcome, { cause: "EBADANSWER" });
});

test("closing also ends released connections that still have calls", async (t) => {
  const upstreams = createUpstreams(t);
  const { url, connections } = await createRawUpstream(t, () => {});
  const { outcome } = callUpstream(upstreams, url);
  await eventually(() => connections[0]?.requests.length === 1);
  upstreams.keepOnly([]);
  t.false(connections[0]?.isClosed);
  await upstreams.close();
  t.regex((await outcome).error ?? "", /^upstream_error: /);
  await eventually(() => connections[0]?.isClosed);
});

test("a call paused before its response reads nothing until it resumes", async (t) => {
  const upstreams = createUpstreams(t);
  const { url, connections } = await createRawUpstream(t, ({ socket }) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${32 * 1024 * 1024}\r\n\r\n`);
    socket.write("x".repeat(32 * 1024 * 1024));
  });
  let received = 0;
  const { call, outcome } = callUpstream(upstreams, url, { onData: (bytes) => (received += bytes.length) });
  call.pause();
  const connection = await eventually(() => connections[0]?.requests.length === 1 && connections[0]);
  await wait(100);
  t.true(received <= 64 * 1024);
  t.true(connection.socket.writableLength > 0);
  call.resume();
  t.is((await outcome).body.length, 32 * 1024 * 1024);
});

test.serial("a call that was paused for long may be idle for its whole time again", async (t) => {
  const { now } = performance;
  let time = 0;
  performance.now = () => time;
  t.teardown(() => (performance.now = now));
  const ended = Promise.withResolvers<number>();
  const events = { onHeaders() {}, onData() {}, onEnd() {}, onError: () => ended.resolve(time) };
  const timeouts = { firstByteTimeoutMs: 100, idleTimeoutMs: 1, totalTimeoutMs: 100, connectTimeoutMs: 100 };
  const call = new NetworkCall(events, timeouts);
  call.onHeaders(200, {});
  call.pause();
  time = 50;
  call.resume();
  // The call's timer has the same duration and started earlier.
  await wait(1);
  time = 51;
  t.is(await ended.promise, 51);
});

test("an idle connection does not keep the process alive, and a call does", async (t) => {
  const { url } = await createRawUpstream(t, ({ socket }) => void setTimeout(() => socket.write(hello), 200));
  const helper = path.join(import.meta.dirname, "../helpers/call-upstream.ts");
  const program = `
    const { callUpstream, createUpstreams } = await import(${JSON.stringify(helper)});
    const upstreams = createUpstreams({ teardown() {} });
    void callUpstream(upstreams, "${url}").outcome.then(({ body }) => {
      console.log(body);
      const answeredAt = performance.now();
      process.on("exit", () => console.log(performance.now() - answeredAt < 15_000 ? "soon" : "late"));
    });`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
  // By default, an idle connection is kept for 20 s.
  t.is(stdout.trim(), "hello\nsoon");
});

const secrets = ["secret-a", "secret-b", null];
const open = (connections: RawConnection[]) => connections.filter(({ isClosed }) => !isClosed);

test("a connection carries requests of one credential only", async (t) => {
  const upstreams = createUpstreams(t);
  const { url, connections } = await createRawUpstream(t, ({ socket }) => socket.write(hello));
  for (let round = 0; round < 40; round++) {
    const calls = secrets.map((secret) => callUpstream(upstreams, `${url}/${secret}`, { secret }).outcome);
    for (const outcome of await Promise.all(calls)) t.like(outcome, { error: null, body: "hello" });
  }
  for (const { requests } of connections) {
    t.is(new Set(requests.map((request) => request.split(" ")[1])).size, 1);
  }
  t.true(connections.length < 120);
});

test("the connection limit covers all credentials together", async (t) => {
  const upstreams = createUpstreams(t, { upstreamConnectionsMax: 2 });
  let openMax = 0;
  const { url, connections } = await createRawUpstream(t, ({ socket }) => {
    openMax = Math.max(openMax, open(connections).length);
    socket.write(hello);
  });
  const calls = Array.from({ length: 30 }, (_, index) =>
    callUpstream(upstreams, url, { secret: `secret-${index % 5}` }),
  );
  for (const { outcome } of calls) t.like(await outcome, { error: null, body: "hello" });
  // The upstream may see a new connection before it sees the old one close.
  t.true(openMax <= 4, String(openMax));
  await eventually(() => open(connections).length <= 2);
});

test("connections of a deleted credential close once they are free", async (t) => {
  const upstreams = createUpstreams(t);
  const answers: (() => void)[] = [];
  const { url, connections } = await createRawUpstream(t, ({ socket }, request) => {
    if (request.includes("/slow")) answers.push(() => socket.write(hello));
    else socket.write(hello);
  });
  const slow = callUpstream(upstreams, `${url}/slow`, { secret: "secret-a" });
  await eventually(() => answers.length === 1);
  await callUpstream(upstreams, url, { secret: "secret-a" }).outcome;
  await callUpstream(upstreams, url, { secret: "secret-b" }).outcome;

  upstreams.keepOnly([{ origin: url, path: "/", headers: [], secret: "secret-b" }]);
  await eventually(() => connections[1]?.isClosed);
  t.deepEqual(
    connections.map(({ isClosed }) => isClosed),
    [false, true, false],
  );
  answers[0]?.();
  t.like(await slow.outcome, { error: null, body: "hello" });
  await eventually(() => connections[0]?.isClosed);
  t.false(connections[2]?.isClosed);
});
