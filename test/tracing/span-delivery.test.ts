import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import test from "ava";
import { createLog } from "../../gateway/log.ts";
import { SpanDelivery } from "../../gateway/tracing/tracing.ts";

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
