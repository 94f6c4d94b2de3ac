import { randomBytes } from "node:crypto";
import test, { type ExecutionContext } from "ava";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import { readTraceparent } from "../../gateway/tracing/request-spans.ts";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { freePort } from "../helpers/free-port.ts";
import { chatBody, postTo } from "../helpers/post-chat.ts";
import { beginStream, chunkEvent, createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { createKey, type TestGateway } from "../helpers/test-gateway.ts";
import { closeWithSpans, startCollector, startTracedGateway } from "./trace-collector.ts";
import { createLog } from "../../gateway/log.ts";
import { SpanDelivery } from "../../gateway/tracing/tracing.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";

async function ask(gateway: TestGateway, value: string, headers: Record<string, string> = {}) {
  const body = chatBody("demo/echo");
  return postTo(gateway, "/v1/chat/completions", { authorization: `Bearer ${value}`, ...headers }, body);
}

test("a request joins its client's trace unless the header is malformed", async (t) => {
  const collector = await startCollector(t);
  const gateway = await startTracedGateway(t, collector);
  const { value } = await createKey(gateway);
  await ask(gateway, value, { traceparent: `00-${traceId}-${spanId}-01`, tracestate: "canary=1" });
  await ask(gateway, value, { traceparent: `00-${traceId}-${spanId}-01-more` });

  const [child = t.fail(), root = t.fail()] = await collector.requests(2);
  t.is(child.span.traceId, traceId);
  t.is(child.span.parentSpanId, spanId);
  t.deepEqual(
    child.calls.map(({ kind, traceId: of }) => [kind, of]),
    [["internal", traceId]],
  );
  t.not(root.span.traceId, traceId);
  t.is(root.span.parentSpanId, null);
  t.false(collector.batches.some(({ body }) => body.includes("canary")));
});

const samplers: [sampler: string, share: string, flags: string | null, isSent: boolean][] = [
  ["parentbased_always_on", "1", null, true],
  ["parentbased_always_on", "1", "00", false],
  ["parentbased_always_off", "1", null, false],
  ["parentbased_always_off", "1", "01", true],
  ["parentbased_traceidratio", "0", null, false],
  ["parentbased_traceidratio", "0", "01", true],
  ["always_on", "0", "00", true],
  ["always_off", "1", "01", false],
  ["traceidratio", "1", null, true],
  ["traceidratio", "0", "01", false],
];

test("samplers follow their names, and remaining spans are sent before the exit", async (t) => {
  await Promise.all(
    samplers.map(async ([sampler, share, flags, isSent]) => {
      const collector = await startCollector(t);
      const gateway = await startTracedGateway(t, collector, {
        OTEL_TRACES_SAMPLER: sampler,
        OTEL_TRACES_SAMPLER_ARG: share,
        OTEL_BSP_SCHEDULE_DELAY: "600000",
      });
      const { value } = await createKey(gateway);
      await ask(gateway, value, flags === null ? {} : { traceparent: `00-${traceId}-${spanId}-${flags}` });
      t.is(collector.batches.length, 0);
      await (isSent ? closeWithSpans(gateway, collector) : gateway.close());
      t.is(collector.spans().length, isSent ? 2 : 0, `${sampler} ${share} ${flags}`);
    }),
  );
});

test("the collector receives protobuf or JSON with the configured headers and names", async (t) => {
  const collector = await startCollector(t);
  const gateway = await startTracedGateway(t, collector, {
    OTEL_EXPORTER_OTLP_PROTOCOL: "",
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/otlp/`,
    OTEL_EXPORTER_OTLP_HEADERS: "api-key=s%20cret, x-tenant=one",
    OTEL_SERVICE_NAME: "gateway-of-ours",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=t%C3%A4st",
  });
  const { value } = await createKey(gateway);
  await ask(gateway, value, { traceparent: `00-${traceId}-${spanId}-01` });
  await closeWithSpans(gateway, collector);

  const [batch = t.fail()] = collector.batches;
  t.is(batch.url, "/otlp/v1/traces");
  t.is(batch.headers["content-type"], "application/x-protobuf");
  t.is(batch.headers["api-key"], "s cret");
  t.is(batch.headers["x-tenant"], "one");
  for (const part of [Buffer.from(traceId, "hex"), "gateway-of-ours", "täst", "demo/echo"]) {
    t.true(batch.body.includes(part), String(part));
  }
  t.false(gateway.log.some((line) => line.includes("cret")));
});

const troubles: Record<string, { collect(t: ExecutionContext): Promise<string>; reason: string }> = {
  "is away": { collect: async () => `http://127.0.0.1:${await freePort()}`, reason: "ECONNREFUSED" },
  refuses: {
    collect: async (t) => (await startCollector(t, (response) => response.writeHead(400).end("canary"))).url,
    reason: "400",
  },
  "never answers": { collect: async (t) => (await startCollector(t, () => {})).url, reason: "Error" },
};

for (const [title, { collect, reason }] of Object.entries(troubles)) {
  test(`a collector that ${title} costs a log line and no request`, async (t) => {
    const gateway = await startTracedGateway(
      t,
      { url: await collect(t) },
      {
        // Only the silent collector must time out. Other collectors get enough time for a busy machine.
        OTEL_EXPORTER_OTLP_TIMEOUT: reason === "Error" ? "200" : "10000",
        OTEL_BSP_MAX_QUEUE_SIZE: "8",
      },
    );
    const { value } = await createKey(gateway);
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(gateway, value)));
    t.true(answers.every(({ status }) => status === 200));
    await gateway.close();
    const findLines = () =>
      gateway.log.filter((line) => line.includes("traces do not reach their collector"));
    // On a busy machine, the end does not wait for the failure.
    await eventually(() => findLines().length > 0);
    const lines = findLines();
    t.is(lines.length, 1, lines.join(""));
    const said = JSON.parse(lines[0] ?? "{}") as { level: string; lostSpans: number; reason: string };
    t.is(said.level, "warn");
    t.true(said.lostSpans >= 1);
    t.true([reason, "queue_full"].includes(said.reason), said.reason);
    t.false(gateway.log.some((line) => line.includes("canary")));
  });
}

test("a slow collector does not delay the shutdown", async (t) => {
  const collector = await startCollector(t, () => {});
  const gateway = await startTracedGateway(t, collector, { OTEL_EXPORTER_OTLP_TIMEOUT: "600000" });
  const { value } = await createKey(gateway);
  t.is((await ask(gateway, value)).status, 200);
  // The collector never answers, so a wait for it would reach the time limit of the test.
  await t.notThrowsAsync(gateway.close());
});

for (const protocol of ["http/json", "http/protobuf"]) {
  test(`traces contain no prompt, answer, key or credential: ${protocol}`, async (t) => {
    const canary = `canary${randomBytes(8).toString("hex")}`;
    const collector = await startCollector(t);
    const gateway = await startTracedGateway(t, collector, {
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_BSP_SCHEDULE_DELAY: "600000",
    });
    const upstream = await createUpstream(t, ({ body }, response) => {
      if (body.includes("refuse")) {
        response.writeHead(400, { "content-type": "application/json", "x-canary": canary });
        const error = { message: canary, type: canary, code: canary, param: canary };
        return void response.end(JSON.stringify({ error }));
      }
      if (!body.includes('"stream":true')) return sendCompletion(response, canary);
      beginStream(response);
      response.end(`${chunkEvent(canary)}data: {"error":{"message":"${canary}"}}\n\n`);
    });
    const { value, model, id } = await connectUpstream(gateway, upstream);
    const { revision } = await gateway.admin.keys.get.query({ id });
    await gateway.admin.keys.rename.mutate({ id, name: canary, revision });
    const send = (key: string, body: object, more: Record<string, string> = {}) =>
      postTo(gateway, "/v1/chat/completions", { authorization: `Bearer ${key}`, ...more }, body);
    await send(value, chatBody(model, canary, { user: canary, metadata: { canary } }));
    await send(value, chatBody(model, canary, { stream: true }));
    await send(value, chatBody(model, `refuse ${canary}`));
    await send(value, chatBody(`test/${canary}`));
    await send(`sk-${canary}`, chatBody(model));
    await send(value, chatBody(model), { traceparent: canary, tracestate: canary, "user-agent": canary });
    await fetch(`${gateway.url}/v1/${canary}?key=${canary}`);
    await fetch(`${gateway.url}/v1/models/${canary}`, { headers: { authorization: `Bearer ${value}` } });
    await closeWithSpans(gateway, collector);

    const sent = Buffer.concat(collector.batches.map(({ body }) => body)).toString("latin1");
    t.true(sent.includes("upstream-model"));
    const token = gateway.accessToken;
    t.deepEqual(findLeaks(sent, { canary, value, id, upstreamSecret, token, person: "ada@example.com" }), []);
  });
}

test("a traceparent contains the client's span and its sampling flag", (t) => {
  const parent = { traceId, spanId, isRemote: true };
  t.deepEqual(readTraceparent(`00-${traceId}-${spanId}-01`), { ...parent, traceFlags: 1 });
  t.deepEqual(readTraceparent(`00-${traceId}-${spanId}-00`), { ...parent, traceFlags: 0 });
  t.deepEqual(readTraceparent(`00-${traceId}-${spanId}-03`), { ...parent, traceFlags: 1 });
  t.deepEqual(readTraceparent(`cc-${traceId}-${spanId}-01-what-comes`), { ...parent, traceFlags: 1 });
});

test("a malformed traceparent is ignored", (t) => {
  const zeros = "0".repeat(32);
  const malformed = [
    null,
    "",
    "00",
    traceId,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}-${spanId}-01-`,
    `cc-${traceId}-${spanId}-01more`,
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-1`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${zeros}-${spanId}-01`,
    `00-${traceId}-${zeros.slice(16)}-01`,
    `00-${traceId.slice(1)}-${spanId}-01`,
    `00-${traceId}0-${spanId}-01`,
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
    ` 00-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01\n`,
  ];
  for (const header of malformed) t.is(readTraceparent(header), null, String(header));
});

/** Returns a delivery with a queue of 10 spans, and a controlled exporter and clock. */
function setUp() {
  const log: { lostSpans: number; reason: string }[] = [];
  const exports: { spans: number; done: Parameters<SpanExporter["export"]>[1] }[] = [];
  const exporter: SpanExporter = {
    export: (spans, done) => void exports.push({ spans: spans.length, done }),
    shutdown: async () => {},
  };
  const clock = { now: 0 };
  const delivery = new SpanDelivery({
    exporter,
    runtime: {
      monotonicNow: () => clock.now,
      log: createLog("warn", { write: (line) => log.push(JSON.parse(line) as (typeof log)[number]) }),
    },
    delayMs: 600_000,
    timeoutMs: 1_000,
    queueSpansMax: 10,
  });
  const end = (count: number) => {
    for (let index = 0; index < count; index++) delivery.onEnd(endedSpan);
  };
  return { delivery, exports, clock, log, end };
}

const endedSpan = {
  spanContext: () => ({ traceId: "", spanId: "", traceFlags: 1 }),
  resource: {},
} as unknown as ReadableSpan;

const failed = { code: 1, error: Object.assign(new Error("canary"), { code: 503 }) };

test("the queue is limited, and exported spans make room", async (t) => {
  const { exports, log, end } = setUp();
  end(10);
  t.deepEqual(
    exports.map(({ spans }) => spans),
    [10],
    "a full batch goes at once",
  );
  end(13);
  t.is(exports.length, 1, "one at a time");
  t.deepEqual(
    log.map(({ lostSpans, reason }) => [lostSpans, reason]),
    [[1, "queue_full"]],
  );
  exports[0]?.done({ code: 0 });
  await Promise.resolve().then(() => {});
  await new Promise(setImmediate);
  t.deepEqual(
    exports.map(({ spans }) => spans),
    [10, 10],
  );
  exports[1]?.done({ code: 0 });
});

test("lost spans are logged at most once a minute, with their total", async (t) => {
  const { delivery, exports, clock, log, end } = setUp();
  const lose = async (count: number) => {
    end(count);
    const flushed = delivery.forceFlush().catch(() => {});
    exports.at(-1)?.done(failed);
    await flushed;
  };
  await lose(3);
  await lose(4);
  clock.now = 59_999;
  await lose(5);
  clock.now = 60_000;
  await lose(1);
  t.deepEqual(
    log.map(({ lostSpans, reason }) => [lostSpans, reason]),
    [
      [3, "503"],
      [10, "503"],
    ],
  );
  t.false(JSON.stringify(log).includes("canary"));
});
