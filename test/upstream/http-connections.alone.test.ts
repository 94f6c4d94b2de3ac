import { setTimeout as wait } from "node:timers/promises";
import test from "ava";
import { callUpstream, createUpstreams } from "../helpers/call-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { createRawUpstream } from "../helpers/raw-upstream.ts";

const hello = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";

test("an idle connection closes before the upstream would close it", async (t) => {
  const upstreams = createUpstreams(t);
  const { url, connections } = await createRawUpstream(t, ({ socket }) =>
    socket.write(hello.replace("content", "keep-alive: timeout=4\r\ncontent")),
  );
  await callUpstream(upstreams, url).outcome;
  await wait(500);
  await callUpstream(upstreams, url).outcome;
  t.is(connections.length, 1);
  const idleSince = performance.now();
  await eventually(() => connections[0]?.isClosed);
  t.true(performance.now() - idleSince >= 1_900);
  t.true(performance.now() - idleSince < 3_900);
});
