import test from "ava";
import { callUpstream, createUpstreams } from "../helpers/call-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { createRawUpstream, type RawConnection } from "../helpers/raw-upstream.ts";

const hello = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
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
  // The upstream notices a closed connection after its successor opens.
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
