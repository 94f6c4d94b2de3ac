import test from "ava";
import { readTraceparent } from "../../gateway/tracing/request-spans.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";

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
