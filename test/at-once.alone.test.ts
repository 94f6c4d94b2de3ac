import { once } from "node:events";
import type { ServerResponse } from "node:http";
import test from "ava";
import { connectUpstream } from "./helpers/connect-upstream.ts";
import { openChat } from "./helpers/open-chat.ts";
import { chatBody, postChat } from "./helpers/post-chat.ts";
import { createUpstream } from "./helpers/scripted-upstream.ts";
import { skipUnless } from "./helpers/skip-unless.ts";
import { createKey, startTestGateway } from "./helpers/test-gateway.ts";
import { startValkey, valkeyProgram } from "./helpers/valkey-server.ts";
import { startCollector, startTracedGateway } from "./tracing/trace-collector.ts";

test.serial("an upstream is stopped within 250 ms after its client leaves", async (t) => {
  let answering = Promise.withResolvers<ServerResponse>();
  const upstream = await createUpstream(t, (_request, response) => answering.resolve(response));
  const gateway = await startTestGateway(t);
  const { value, model } = await connectUpstream(gateway, upstream);
  const stopMs: number[] = [];
  for (let index = 0; index < 20; index++) {
    const chat = openChat(gateway, value, chatBody(model, "Hello", { stream: index % 2 === 0 }));
    const response = await answering.promise;
    answering = Promise.withResolvers();
    const closed = once(response, "close");
    const leftAt = performance.now();
    chat.request.destroy();
    await closed;
    stopMs.push(performance.now() - leftAt);
  }
  t.true(medianOf(stopMs) < 250, stopMs.map(Math.round).join(" "));
});

skipUnless(valkeyProgram, "Valkey");
if (valkeyProgram) {
  test.serial("a stalled Valkey delays requests by its timeout, and later ones not at all", async (t) => {
    const valkey = await startValkey(t);
    const environment = { VALKEY_URL: valkey.url, VALKEY_TIMEOUT_MS: "250" };
    const gateway = await startTestGateway(t, { environment });
    const limits = { requestsPerMinute: 100 };
    const key = await gateway.admin.keys.create.mutate({ name: "K", models: ["demo/echo"], limits });
    const ask = async () => {
      const askedAt = performance.now();
      t.is((await postChat(gateway, key.value, chatBody("demo/echo", "x"))).status, 200);
      return performance.now() - askedAt;
    };
    await ask();
    valkey.freeze();
    const waitedMs = await Promise.all([ask(), ask(), ask()]);
    t.true(Math.max(...waitedMs) < 2_000, waitedMs.join(" "));
    const laterMs = [await ask(), await ask(), await ask()];
    t.true(medianOf(laterMs) < 200, laterMs.join(" "));
    valkey.wake();
  });
}

test.serial("a slow collector of traces delays the shutdown by less than 10 s", async (t) => {
  const collector = await startCollector(t, () => {});
  const gateway = await startTracedGateway(t, collector, { OTEL_EXPORTER_OTLP_TIMEOUT: "600000" });
  const { value } = await createKey(gateway);
  t.is((await postChat(gateway, value, chatBody("demo/echo", "x"))).status, 200);
  const closedAt = performance.now();
  await gateway.close();
  t.true(performance.now() - closedAt < 10_000);
});

function medianOf(values: number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? NaN;
}
