import test, { type ExecutionContext } from "ava";
import { KeptResponses } from "../../gateway/completions/kept-responses.ts";
import { readConfig } from "../../gateway/config/config.ts";
import type { Settings } from "../../gateway/config/limit-variables.ts";
import { GatewayError } from "../../gateway/errors.ts";

const kilobyte = 1_024;

test("a key evicts its own oldest requests first, then its oldest responses", (t) => {
  const kept = keptResponses(t, { responsesStateBytesPerKeyMax: 10 * kilobyte });
  for (const id of ["resp_1", "resp_2", "resp_3"]) kept.keep("key_1", id, entry({ requestBytes: 4_000 }));
  t.is(kept.find("key_1", "resp_1")?.request, null);
  t.truthy(kept.find("key_1", "resp_1")?.response);
  t.truthy(kept.find("key_1", "resp_3")?.request);
  for (let index = 4; index < 40; index++) kept.keep("key_1", `resp_${index}`, entry({ requestBytes: 10 }));
  t.is(kept.find("key_1", "resp_1"), null);
  t.truthy(kept.find("key_1", "resp_39")?.request);
});

test("a key that keeps much evicts no other key's responses", (t) => {
  const kept = keptResponses(t, {
    responsesStateBytesPerKeyMax: 20 * kilobyte,
    responsesStateBytesMax: 30 * kilobyte,
  });
  kept.keep("key_1", "resp_a", entry({ requestBytes: 5_000 }));
  for (const keyId of ["key_2", "key_3"]) {
    for (let index = 0; index < 50; index++) {
      kept.keep(keyId, `resp_${keyId}_${index}`, entry({ requestBytes: 3_000 }));
    }
  }
  t.truthy(kept.find("key_1", "resp_a")?.request);
});

test("a response larger than a key's share is not kept", (t) => {
  const kept = keptResponses(t, { responsesStateBytesPerKeyMax: 2 * kilobyte });
  kept.keep("key_1", "resp_1", { ...entry({}), response: Buffer.alloc(3_000) });
  t.is(kept.find("key_1", "resp_1"), null);
  kept.keep("key_1", "resp_2", entry({ requestBytes: 3_000 }));
  t.like(kept.find("key_1", "resp_2"), { request: null });
});

for (const [what, limits] of [
  ["bytes", { requestTextBytesMax: 2_000 }],
  ["JSON values", { requestJsonValuesMax: 50 }],
] as const) {
  test(`a conversation with too many ${what} cannot be continued`, (t) => {
    const kept = keptResponses(t, limits);
    let previousId: string | null = null;
    for (let index = 0; index < 20; index++) {
      const id = `resp_${index}`;
      kept.keep("key_1", id, { ...entry({ requestBytes: 200 }), previousId });
      previousId = id;
    }
    t.is(kept.itemsOf("key_1").turnsUntil("resp_2")?.length, 3);
    const error = t.throws(() => kept.itemsOf("key_1").turnsUntil("resp_19"), { instanceOf: GatewayError });
    t.is(error?.code, "request_too_large");
  });
}

test("expired responses are swept", (t) => {
  const clock = { now: 0 };
  const kept = keptResponses(t, { responsesStateAgeMsMax: 100 }, () => clock.now);
  kept.keep("key_1", "resp_1", entry({}));
  clock.now = 99;
  t.truthy(kept.find("key_1", "resp_1"));
  clock.now = 199;
  kept.sweep();
  clock.now = 0;
  t.is(kept.find("key_1", "resp_1"), null);
});

function keptResponses(t: ExecutionContext, limits: Partial<Settings>, now = () => 0): KeptResponses {
  const kept = new KeptResponses({ now, limits: { ...readConfig({}).limits, ...limits } });
  t.teardown(() => kept.close());
  return kept;
}

function entry({ requestBytes = 20 }: { requestBytes?: number }) {
  const request = Buffer.from(JSON.stringify({ input: "x".repeat(requestBytes) }));
  const response = Buffer.from(JSON.stringify({ output: [{ id: "msg_1_0", type: "message" }] }));
  return { request, response, previousId: null };
}
