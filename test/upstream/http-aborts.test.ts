import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import test from "ava";
import { AddressGuard } from "../../gateway/upstream/address-guard.ts";
import type { Upstreams } from "../../gateway/upstream/upstreams.ts";
import { callUpstream, createUpstreams, type ObservedCall } from "../helpers/call-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { createRawUpstream, type RawUpstream } from "../helpers/raw-upstream.ts";

const hello = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";

type Phase = {
  when: string;
  answer?: string;
  isSent: boolean;
  play(stage: {
    upstreams: Upstreams;
    upstream: RawUpstream;
    url: string;
  }): Promise<ObservedCall> | ObservedCall;
};

const phases: Phase[] = [
  {
    when: "at once",
    isSent: false,
    play: ({ upstreams, url }) => abort(callUpstream(upstreams, url)),
  },
  {
    when: "while it is being signed",
    isSent: false,
    async play({ upstreams, url }) {
      const observed = abort(callUpstream(upstreams, url, { sign: async () => (await wait(20), []) }));
      await wait(40);
      return observed;
    },
  },
  {
    when: "while it connects",
    isSent: false,
    async play({ upstreams, url }) {
      const observed = callUpstream(upstreams, url);
      await nextTurn();
      return abort(observed);
    },
  },
  {
    when: "while its request is on the way",
    isSent: true,
    async play({ upstreams, upstream, url }) {
      const observed = callUpstream(upstreams, url, { body: "x".repeat(20_000_000) });
      await eventually(() => upstream.connections[0]);
      return abort(observed);
    },
  },
  ...["", "HTTP/1.1 200 OK\r\ncontent-", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhe"].map(
    (answer) => ({
      when: `after ${JSON.stringify(answer)}`,
      isSent: true,
      answer,
      async play({ upstreams, upstream, url }: Parameters<Phase["play"]>[0]) {
        const observed = callUpstream(upstreams, url);
        await eventually(() => upstream.connections[0]?.requests.length === 1);
        await wait(20);
        return abort(observed);
      },
    }),
  ),
  {
    when: "by the handler of the first bytes",
    isSent: true,
    answer: hello,
    async play({ upstreams, url }) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const observed = callUpstream(upstreams, url, { onData: (_bytes, call) => resolve(call.abort()) });
      await promise;
      return observed;
    },
  },
  {
    when: "while it is paused",
    isSent: true,
    answer: `HTTP/1.1 200 OK\r\n\r\n${"x".repeat(1_000_000)}`,
    async play({ upstreams, url }) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const observed = callUpstream(upstreams, url, { onData: (_bytes, call) => resolve(call.pause()) });
      await promise;
      return abort(observed);
    },
  },
];

function abort(observed: ObservedCall): ObservedCall {
  observed.call.abort();
  return observed;
}

for (const { when, isSent, answer = "", play } of phases) {
  test(`a call aborted ${when} leaks nothing`, async (t) => {
    const upstreams = createUpstreams(t, { upstreamConnectionsMax: 1 });
    const upstream = await createRawUpstream(t, ({ socket }, request) => {
      socket.write(request.includes("/next") ? hello : answer);
    });
    const { call, outcome } = await play({ upstreams, upstream, url: `${upstream.url}/aborted` });

    // The only connection slot is free at once.
    t.like(await callUpstream(upstreams, `${upstream.url}/next`).outcome, { error: null, body: "hello" });
    const requests = upstream.connections.flatMap((connection) => connection.requests);
    if (!isSent)
      t.deepEqual(
        requests.filter((request) => request.includes("/aborted")),
        [],
      );
    await eventually(() => upstream.connections.filter(({ isClosed }) => !isClosed).length === 1);
    t.is(upstream.connections.at(-1)?.isClosed, false);

    // These methods have no effect on an aborted call.
    call.abort();
    call.pause();
    call.resume();
    t.is(await Promise.race([outcome, wait(30, "not told")]), "not told");
  });
}

test("aborted waiting calls are not sent, and later ones move up", async (t) => {
  const upstreams = createUpstreams(t, { upstreamConnectionsMax: 1 });
  const answers: (() => void)[] = [];
  const { url, connections } = await createRawUpstream(t, ({ socket }) => {
    answers.push(() => socket.write(hello));
  });
  const calls = Array.from({ length: 10 }, (_, index) => callUpstream(upstreams, `${url}/${index}`));
  await eventually(() => answers.length === 1);
  for (const index of [1, 2, 3, 5, 9]) calls[index]?.call.abort();
  for (let served = 0; served < 5; served++) {
    await eventually(() => answers.length === served + 1);
    answers[served]?.();
  }
  for (const index of [0, 4, 6, 7, 8]) t.like(await calls[index]?.outcome, { error: null });
  t.deepEqual(
    connections.map(({ requests }) => requests.map((request) => request.slice("POST /".length, 7)).join("")),
    ["04678"],
  );
});

test("a lookup that returns after an abort opens no connection", async (t) => {
  const guard = new AddressGuard([]);
  const lookUps: (() => void)[] = [];
  Object.assign(guard, {
    lookupPublic: (_name: string, _options: object, callback: (error: null, found: object[]) => void) =>
      lookUps.push(() => callback(null, [{ address: "127.0.0.1", family: 4 }])),
  });
  const upstreams = createUpstreams(t, { guard, upstreamConnectionsMax: 1 });
  const { port, connections } = await createRawUpstream(t, ({ socket }) => socket.write(hello));
  const { call } = callUpstream(upstreams, `http://api.example.com:${port}/aborted`);
  await eventually(() => lookUps.length === 1);
  call.abort();
  const next = callUpstream(upstreams, `http://api.example.com:${port}/next`);
  await eventually(() => lookUps.length === 2);
  for (const answer of lookUps) answer();
  t.like(await next.outcome, { error: null, body: "hello" });
  t.deepEqual(
    connections.map(({ requests }) => requests.length),
    [1],
  );
});

test("thousands of random aborts leave the only connection slot usable", async (t) => {
  const upstreams = createUpstreams(t, { upstreamConnectionsMax: 5 });
  const { url, connections } = await createRawUpstream(t, ({ socket }) => {
    socket.write(hello.slice(0, 30));
    setImmediate(() => socket.write(hello.slice(30)));
  });
  let ended = 0;
  for (let batch = 0; batch < 20; batch++) {
    const calls = Array.from({ length: 100 }, () => callUpstream(upstreams, url));
    for (const [index, { call, outcome }] of calls.entries()) {
      void outcome.then(({ error }) => (ended += error === null ? 1 : 0));
      if (index % 3 > 0) setTimeout(() => call.abort(), (index * 7) % 40);
    }
    await wait(50);
    t.true(connections.filter(({ isClosed }) => !isClosed).length <= 5 + 5);
  }
  const last = await Promise.all(Array.from({ length: 20 }, () => callUpstream(upstreams, url).outcome));
  t.true(last.every(({ error, body }) => error === null && body === "hello"));
  await eventually(() => connections.filter(({ isClosed }) => !isClosed).length <= 5);
  t.true(ended >= 20 * 34);
  t.log(`2,000 calls, ${ended} ended, ${connections.length} connections`);
});

test("a paused call reads only the system's buffers and later receives everything", async (t) => {
  const upstreams = createUpstreams(t);
  const megabytes = 64;
  const { url, connections } = await createRawUpstream(t, ({ socket }) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${megabytes * 1024 * 1024}\r\n\r\n`);
    for (let index = 0; index < megabytes; index++) socket.write("x".repeat(1024 * 1024));
  });
  let received = 0;
  const { call, outcome } = callUpstream(upstreams, url, {
    onData(bytes, self) {
      if (received === 0) self.pause();
      received += bytes.length;
    },
  });
  await eventually(() => received > 0);
  await wait(200);
  t.true(received <= 64 * 1024);
  t.true((connections[0]?.socket.writableLength ?? 0) > 10 * 1024 * 1024);
  call.resume();
  t.is((await outcome).body.length, megabytes * 1024 * 1024);
});
