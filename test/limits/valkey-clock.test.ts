import test from "ava";
import type { GatewayError } from "../../gateway/errors.ts";
import { Limiter } from "../../gateway/limits/rates/limiter.ts";
import type { ValkeyLimits } from "../../gateway/limits/valkey/valkey-limits.ts";
import { limitedKey, LimitedRequest, limitsOf, noBudgets, overRecord } from "../helpers/limited-key.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { connectValkeyLimits, holderOf } from "../helpers/valkey-limits.ts";
import { startValkey, valkeyProgram } from "../helpers/valkey-server.ts";
import { skipUnless } from "../helpers/skip-unless.ts";

const owner = sharedByFile();
const startedAt = Date.UTC(2026, 11, 1);
const clock = { now: startedAt };
let url = "";

const connect = () => connectValkeyLimits(owner, url, () => clock.now);

const outcome = (answer: Awaited<ReturnType<ValkeyLimits["reserve"]>>) => {
  if (answer === null) return "no answer";
  if ("undo" in answer) return "admitted";
  return answer.waitsFor === null ? "refused" : "waits";
};

skipUnless(valkeyProgram, "Valkey");
if (valkeyProgram) {
  test.serial.before(async () => {
    ({ url } = await startValkey(owner));
  });

  for (const [name, aheadMs] of [
    ["two hours", 7_200_000],
    ["400 days", 34_560_000_000],
  ] as const) {
    test.serial(`in Valkey a minute restarts when the clock is set back by ${name}`, async (t) => {
      const exact = await connect();
      const holders = [
        holderOf(`key_${aheadMs}`, { requestsPerMinute: 2, tokensPerMinute: 100 }),
        holderOf(`usr_${aheadMs}`, { holder: "person", requestsPerMinute: 3 }),
      ];
      const ask = async () => outcome(await exact.reserve(holders, 10));
      clock.now = startedAt + aheadMs;
      t.is(await ask(), "admitted");
      t.is(await ask(), "admitted");
      clock.now -= 30_000;
      t.is(await ask(), "refused", "a small correction keeps the minute");
      clock.now = startedAt;
      const again = await exact.reserve(holders, 10);
      t.deepEqual(again?.used, [
        { requests: 1, tokens: 10 },
        { requests: 1, tokens: 10 },
      ]);
      t.is(await ask(), "admitted");
      const refused = await exact.reserve(holders, 10);
      t.is(outcome(refused), "refused");
      t.is(refused && "error" in refused && refused.error.retryAfterSeconds, 60);
      if (again && "undo" in again) again.end(5);
      clock.now += 60_000;
      t.is(await ask(), "admitted");
    });
  }

  test.serial("in Valkey a request waits for reserved tokens, and is refused for used ones", async (t) => {
    const [one, other] = [await connect(), await connect()];
    const holder = holderOf("key_reserved", { tokensPerMinute: 100 });
    const first = await one.reserve([holder], 90, 10);
    t.is(outcome(await other.reserve([holder], 60, 10)), "waits");
    t.is(outcome(await other.reserve([holder], 110, 101)), "refused", "it will never fit");
    if (!first || !("undo" in first)) return t.fail();
    first.end(-60);
    // Valkey orders commands only within a client, so this reply confirms that the `end` has run.
    await one.reserve([holderOf("key_else", {})], 0);
    const second = await other.reserve([holder], 60, 10);
    t.is(outcome(second), "admitted", "30 are used");
    t.deepEqual(second?.used, [{ requests: 2, tokens: 90 }]);
    if (!second || !("undo" in second)) return t.fail();
    second.end(0);
    await other.reserve([holderOf("key_else", {})], 0);
    t.is(outcome(await one.reserve([holder], 20, 20)), "refused", "90 are used, and nothing is reserved");
    t.is(outcome(await one.reserve([holder], 500, 10)), "admitted", "alone, its input is enough");
    clock.now += 61_000;
    t.is(outcome(await one.reserve([holder], 60, 10)), "admitted", "the minute is over");
    t.is(outcome(await one.reserve([holder], 60, 10)), "waits");
    clock.now += 61_000;
    const third = await one.reserve([holder], 90, 10);
    if (!third || !("undo" in third)) return t.fail();
    third.end(0);
    t.is(outcome(await one.reserve([holder], 20, 20)), "refused", "a minute later, the 60 are not reserved");
  });

  test.serial("with Valkey 100 parallel requests wait for their tokens and pass no limit", async (t) => {
    const exact = await connect();
    const limits = limitsOf({ QUEUED_REQUESTS_PER_KEY_MAX: "1000", QUEUE_WAIT_MS_MAX: "600000" });
    const limiter = new Limiter({ now: () => clock.now, limits, budgets: noBudgets, exact });
    const key = limitedKey("key_parallel", { tokensPerMinute: 2_000 });
    const prices = { inputPrice: 0, cachedInputPrice: null, cacheWritePrice: null, outputPrice: 0 };
    const over = Promise.withResolvers<void>();
    const [admitted, refused]: [number[], GatewayError[]] = [[], []];
    const settled = () => admitted.length + refused.length === 100 && over.resolve();
    for (let count = 0; count < 100; count++) {
      const request: LimitedRequest = new LimitedRequest(key, (error) => {
        refused.push(error);
        const unused = { status: "FAILED" as const, inputTokens: null, outputTokens: null };
        request.admission?.end(overRecord(key.id, unused));
        settled();
      });
      const start = () => {
        admitted.push(count);
        setImmediate(() => {
          request.admission?.end(overRecord(key.id, { inputTokens: 10, outputTokens: 190 }));
          settled();
        });
      };
      limiter.admit(request, 40, start, () => ({ prices, inputTokens: 10, outputTokensMax: null }));
    }
    await over.promise;
    t.is(admitted.length, 10);
    t.true(refused.every(({ code, limitedBy }) => code === "token_limit_exceeded" && limitedBy === "key"));
    t.is(limiter.waitingRequests, 0);
  });
}
