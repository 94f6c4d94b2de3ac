import { createServer } from "node:net";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import test from "ava";
import { callUpstream, createUpstreams, type Outcome } from "../helpers/call-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { createRawUpstream, type RawConnection } from "../helpers/raw-upstream.ts";
import { restMs } from "../../gateway/upstream/upstreams.ts";

const hello = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
const evil = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nEVIL";

/** Returns one string per connection: the last path segments of its requests, separated by spaces. */
const pathsOf = (connections: RawConnection[]) =>
  connections.map(({ requests }) => requests.map((request) => /\/(\w*) HTTP/.exec(request)?.[1]).join(" "));

test("a request is written correctly in one piece", async (t) => {
  const upstreams = createUpstreams(t, { upstreamConnectionsMax: 1 });
  const pieces: string[] = [];
  const server = createServer((socket) =>
    socket.on("data", (bytes) => pieces.push(bytes.toString("latin1"))),
  );
  const { url, port, connections } = await createRawUpstream(t, ({ socket }) => socket.write(hello), server);
  const headers = ["authorization", "Bearer secret", "x-empty", "", "x-latin", "gr\xfc\xdfe"];

  await callUpstream(upstreams, `${url}/v1/chat?a=b`, { headers, body: "{}" }).outcome;
  await callUpstream(upstreams, `${url}/v1/models`, { body: null }).outcome;
  await callUpstream(upstreams, url, { body: "" }).outcome;
  const sign = async () => ["x-signature", "abc"];
  await callUpstream(upstreams, url, { body: "x".repeat(100_000), sign }).outcome;

  const host = `host: 127.0.0.1:${port}\r\nconnection: keep-alive\r\n`;
  t.deepEqual(connections[0]?.requests, [
    `POST /v1/chat?a=b HTTP/1.1\r\n${host}authorization: Bearer secret\r\nx-empty: \r\nx-latin: gr\xfc\xdfe\r\ncontent-length: 2\r\n\r\n{}`,
    `GET /v1/models HTTP/1.1\r\n${host}\r\n`,
    `POST / HTTP/1.1\r\n${host}content-length: 0\r\n\r\n`,
    `POST / HTTP/1.1\r\n${host}x-signature: abc\r\ncontent-length: 100000\r\n\r\n${"x".repeat(100_000)}`,
  ]);
  t.deepEqual(pieces.slice(0, 3), connections[0]?.requests.slice(0, 3));
});

for (const [what, request] of [
  ["a line feed in a value", { headers: ["x", "a\nb: c"] }],
  ["a carriage return in a value", { headers: ["x", "a\rb"] }],
  ["NUL in a value", { headers: ["x", "a\0b"] }],
  ["a value beyond Latin-1", { headers: ["authorization", "Bearer ключ"] }],
  ["a name with a space", { headers: ["x y", "z"] }],
  ["a name with a line feed", { headers: ["x\r\ny", "z"] }],
  ["no name", { headers: ["", "z"] }],
  ["a length of its own", { headers: ["Content-Length", "3"] }],
  ["a transfer-encoding of its own", { headers: ["transfer-encoding", "chunked"] }],
  ["a host of its own", { headers: ["host", "example.com"] }],
  ["a space in the path", { path: "/a b" }],
  ["a line feed in the path", { path: "/a\r\nx: y" }],
  ["a path beyond ASCII", { path: "/ü" }],
  ["a signature with a line feed", { sign: async () => ["x", "a\nb: c"] }],
] as const) {
  test(`a request with ${what} is not sent`, async (t) => {
    const upstreams = createUpstreams(t);
    const upstream = await createRawUpstream(t, ({ socket }) => socket.write(hello));
    const { path, headers, sign } = { path: "/", headers: [], sign: undefined, ...request };
    const options = { path, headers: [...headers], ...(sign && { sign }) };
    const { error, wasSent } = await callUpstream(upstreams, upstream.url, options).outcome;
    t.regex(error ?? "", /^upstream_error: .* contains invalid characters\. Ask an administrator/);
    t.false(wasSent);
    t.is(upstream.connections.length, 0);
  });
}

// The larger response fills the 64 KiB read buffer eight times, so the bytes after it wait in the system's buffer.
for (const bodyBytes of [5, 64 * 1024 * 8]) {
  test(`bytes after a response of ${bodyBytes} bytes do not reach the next one`, async (t) => {
    const upstreams = createUpstreams(t);
    const head = (bytes: number) =>
      `HTTP/1.1 200 OK\r\nx-pad: ${"x".repeat(6 - String(bytes).length)}\r\ncontent-length: ${bytes}\r\n\r\n`;
    const body = "a".repeat(bodyBytes - (bodyBytes > 5 ? head(bodyBytes).length : 0));
    const { url, connections } = await createRawUpstream(t, ({ socket }, request) =>
      socket.write(request.includes("/first") ? head(body.length) + body + evil : hello),
    );
    for (let round = 0; round < 20; round++) {
      const second = Promise.withResolvers<Outcome>();
      const first = callUpstream(upstreams, `${url}/first`);
      // The second call starts in the turn in which the first one ends, before any other event.
      void first.outcome.then(() => second.resolve(callUpstream(upstreams, `${url}/second`).outcome));
      t.is((await first.outcome).body, body);
      t.like(await second.promise, { error: null, body: "hello" });
    }
    t.true(pathsOf(connections).every((paths) => !paths.includes("first second")));
  });
}

test("an unsolicited response closes the connection", async (t) => {
  const upstreams = createUpstreams(t);
  const { url, connections } = await createRawUpstream(t, ({ socket }) => socket.write(hello));
  await callUpstream(upstreams, `${url}/first`).outcome;
  await nextTurn();
  connections[0]?.socket.write(evil);
  await eventually(() => connections[0]?.isClosed);
  t.is((await callUpstream(upstreams, `${url}/second`).outcome).body, "hello");
  t.deepEqual(pathsOf(connections), ["first", "second"]);
});

test("a connection that the upstream closes silently is not reused", async (t) => {
  const upstreams = createUpstreams(t, { upstreamConnectionsMax: 1 });
  const { url, connections } = await createRawUpstream(t, ({ socket }) => socket.end(hello));
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => callUpstream(upstreams, url).outcome));
  for (const outcome of outcomes) t.like(outcome, { error: null, body: "hello" });
  t.is(connections.length, 50);
});

test("a reused connection that breaks before the response is not retried", async (t) => {
  const upstreams = createUpstreams(t, { upstreamConnectionsMax: 1 });
  const { url, connections } = await createRawUpstream(t, (connection) => {
    if (connection.requests.length === 1) connection.socket.write(hello);
    else connection.socket.resetAndDestroy();
  });
  await callUpstream(upstreams, `${url}/first`).outcome;
  const { error, wasSent } = await callUpstream(upstreams, `${url}/second`).outcome;
  t.regex(error ?? "", /the connection was reset/);
  t.true(wasSent);
  await wait(50);
  t.deepEqual(pathsOf(connections), ["first second"]);
});

test("connections stay within the limit, and calls are served in order", async (t) => {
  const upstreams = createUpstreams(t, { upstreamConnectionsMax: 3 });
  const waiting: RawConnection[] = [];
  const { url, connections } = await createRawUpstream(t, (connection) => waiting.push(connection));
  const ended: number[] = [];
  const calls = Array.from({ length: 30 }, (_, index) => {
    const { outcome } = callUpstream(upstreams, `${url}/${index}`);
    return outcome.then(({ error }) => ended.push(error === null ? index : -1));
  });
  for (let served = 0; served < 30; served += 3) {
    await eventually(() => waiting.length === 3);
    t.is(connections.length, 3);
    t.deepEqual(
      waiting
        .map(({ requests }) => Number(/\/(\d+)/.exec(requests.at(-1) ?? "")?.[1]))
        .toSorted((a, b) => a - b),
      [served, served + 1, served + 2],
    );
    for (const { socket } of waiting.splice(0)) socket.write(hello);
  }
  await Promise.all(calls);
  t.deepEqual(
    ended.toSorted((a, b) => a - b),
    Array.from({ length: 30 }, (_, index) => index),
  );
  t.is(connections.length, 3);
});

test("a broken connection frees its slot for the next call", async (t) => {
  const upstreams = createUpstreams(t, { upstreamConnectionsMax: 1 });
  const { url, connections } = await createRawUpstream(t, ({ socket }, request) => {
    if (request.includes("/bad")) socket.destroy();
    else socket.write(hello);
  });
  const outcomes = await Promise.all(
    ["bad", "good", "bad", "bad", "good", "good"].map(async (path) => {
      const { error } = await callUpstream(upstreams, `${url}/${path}`).outcome;
      return error === null ? "good" : "bad";
    }),
  );
  t.deepEqual(outcomes, ["bad", "good", "bad", "bad", "good", "good"]);
  t.deepEqual(pathsOf(connections), ["bad", "good bad", "bad", "good good"]);
});

test("the most recently used connection is reused first", async (t) => {
  const upstreams = createUpstreams(t);
  const { url, connections } = await createRawUpstream(
    t,
    ({ socket }) => void setTimeout(() => socket.write(hello), 20),
  );
  await Promise.all([callUpstream(upstreams, url).outcome, callUpstream(upstreams, url).outcome]);
  for (let index = 0; index < 5; index++) {
    // Node runs timers of the same duration in the order of their creation, so the connection has rested by then.
    for (let rest = 0; rest < 3; rest++) await wait(restMs);
    await callUpstream(upstreams, url).outcome;
  }
  t.deepEqual(
    connections.map(({ requests }) => requests.length).toSorted((a, b) => a - b),
    [1, 6],
  );
});

test("connections to unlisted origins close once they are free", async (t) => {
  const upstreams = createUpstreams(t);
  const answers: (() => void)[] = [];
  const { url, connections } = await createRawUpstream(t, ({ socket }, request) => {
    if (request.includes("/slow")) answers.push(() => socket.write(hello));
    else socket.write(hello);
  });
  const slow = callUpstream(upstreams, `${url}/slow`);
  await eventually(() => answers.length > 0);
  await callUpstream(upstreams, `${url}/fast`).outcome;
  const anEndpoint = { path: "/", headers: [], secret: null };
  upstreams.keepOnly([{ ...anEndpoint, origin: url }]);
  await wait(20);
  t.deepEqual(
    connections.map(({ isClosed }) => isClosed),
    [false, false],
  );

  upstreams.keepOnly([{ ...anEndpoint, origin: "http://example.com" }]);
  await eventually(() => connections[1]?.isClosed);
  t.false(connections[0]?.isClosed);
  answers[0]?.();
  t.is((await slow.outcome).error, null);
  await eventually(() => connections[0]?.isClosed);
});

test("closing the connections ends all calls", async (t) => {
  const upstreams = createUpstreams(t, { upstreamConnectionsMax: 1 });
  const { url, connections } = await createRawUpstream(t, () => {});
  const sent = callUpstream(upstreams, url);
  const queued = callUpstream(upstreams, url);
  await eventually(() => connections[0]?.requests.length === 1);
  await upstreams.close();
  t.like(await sent.outcome, { wasSent: true });
  t.like(await queued.outcome, { wasSent: false });
  await eventually(() => connections[0]?.isClosed);
  const late = callUpstream(upstreams, url);
  t.like(await late.outcome, { wasSent: false });
  t.is(connections.length, 1);
});

test("a response before the end of the request closes the connection", async (t) => {
  const upstreams = createUpstreams(t);
  const { url, connections } = await createRawUpstream(t, () => {});
  const call = callUpstream(upstreams, url, { body: "x".repeat(50_000_000) });
  const connection = await eventually(() => connections[0]);
  connection.socket.pause();
  connection.socket.write(hello);
  t.like(await call.outcome, { error: null, body: "hello" });
  connection.socket.resume();
  await eventually(() => connection.isClosed);
});
