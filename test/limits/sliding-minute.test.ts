import test from "ava";
import fc from "fast-check";
import { Limiter } from "../../gateway/limits/rates/limiter.ts";
import { SlidingMinute } from "../../gateway/limits/rates/meter.ts";
import { GatewayError } from "../../gateway/errors.ts";
import { limitedKey, LimitedRequest, limitsOf, noBudgets, overRecord } from "../helpers/limited-key.ts";

const steps = fc.array(
  fc.record({
    waitMs: fc.oneof(fc.nat(300), fc.nat(5_000), fc.nat(100_000)),
    amount: fc.integer({ min: 1, max: 9 }),
  }),
  { minLength: 1, maxLength: 120 },
);

test("the minute contains exactly the last sixty seconds at any request interval", (t) => {
  fc.assert(
    fc.property(steps, (list) => {
      const minute = new SlidingMinute();
      const uses: { at: number; amount: number }[] = [];
      let now = 1_700_000_000_000;
      for (const { waitMs, amount } of list) {
        const second = Math.floor((now += waitMs) / 1000);
        minute.add(second, amount);
        uses.push({ at: second, amount });
        t.is(minute.used(second), usedIn(uses, second));
        t.is(minute.freeAt(second, 0), second + 60);
      }
    }),
    { numRuns: 200 },
  );
});

test("the limit is free at the announced second and not earlier", (t) => {
  fc.assert(
    fc.property(steps, fc.nat(100), (list, most) => {
      const minute = new SlidingMinute();
      const uses: { at: number; amount: number }[] = [];
      let second = 1_000;
      for (const { waitMs, amount } of list) {
        minute.add((second += Math.floor(waitMs / 1000)), amount);
        uses.push({ at: second, amount });
      }
      const freeAt = minute.freeAt(second, most);
      t.true(usedIn(uses, freeAt) <= most);
      t.true(freeAt === second || usedIn(uses, freeAt - 1) > most);
    }),
    { numRuns: 200 },
  );
});

test("no sixty seconds exceed the request limit, and none below it are refused", (t) => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 12 }), (list, requestsPerMinute) => {
      let now = 1_700_000_000_000;
      const limiter = new Limiter({ now: () => now, limits: limitsOf(), budgets: noBudgets });
      const key = limitedKey("key_1", { requestsPerMinute });
      const let_in: { at: number; amount: number }[] = [];
      for (const { waitMs, amount } of list) {
        now += waitMs;
        const second = Math.floor(now / 1000);
        for (let request = 0; request < amount; request++) {
          const isBelow = usedIn(let_in, second) < requestsPerMinute;
          try {
            limiter.admit(new LimitedRequest(key), 100, () => {});
            t.true(isBelow, "let through above the limit");
            let_in.push({ at: second, amount: 1 });
          } catch (error) {
            t.false(isBelow, "refused below the limit");
            const { code, retryAfterSeconds } = error as GatewayError;
            t.is(code, "rate_limit_exceeded");
            const wait = retryAfterSeconds ?? 0;
            t.true(wait >= 1 && wait <= 60);
            t.true(usedIn(let_in, Math.floor((now + wait * 1000) / 1000)) < requestsPerMinute);
          }
        }
      }
      for (const { at } of let_in) t.true(usedIn(let_in, at + 59) <= requestsPerMinute);
    }),
    { numRuns: 200 },
  );
});

test("known tokens never exceed the limit, and unused ones are returned", (t) => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 20, max: 200 }), (list, tokensPerMinute) => {
      let now = 1_700_000_000_000;
      const limiter = new Limiter({ now: () => now, limits: limitsOf(), budgets: noBudgets });
      const key = limitedKey("key_1", { tokensPerMinute });
      for (const { waitMs, amount } of list) {
        now += waitMs;
        const asking = new LimitedRequest(key);
        const before = limiter.statusOf(key).tokensInMinute;
        try {
          limiter.admit(asking, amount * 40, () => {});
          t.true(before + amount * 10 <= tokensPerMinute);
        } catch (error) {
          t.true(before + amount * 10 > tokensPerMinute);
          t.is((error as GatewayError).code, "token_limit_exceeded");
          continue;
        }
        now += amount * 500;
        asking.admission?.end(overRecord("key_1", { inputTokens: amount, outputTokens: 0 }));
        t.true(limiter.statusOf(key).tokensInMinute <= Math.max(before, 0) + amount);
      }
      t.is(limiter.statusOf(key).concurrentRequests, 0);
    }),
    { numRuns: 200 },
  );
});

test("unused entries are dropped", (t) => {
  let now = 1_700_000_000_000;
  const limiter = new Limiter({ now: () => now, limits: limitsOf(), budgets: noBudgets });
  const asking = new LimitedRequest(limitedKey("key_1", { requestsPerMinute: 1 }));
  limiter.admit(asking, 1, () => {});
  asking.admission?.end(overRecord("key_1"));
  limiter.sweep();
  t.is(limiter.meters.size, 1);
  now += 60_000;
  for (const meter of limiter.meters.values()) meter.unsharedFrom = null;
  limiter.sweep();
  t.is(limiter.meters.size, 0);
  limiter.admit(asking, 1, () => {});
  t.is(limiter.statusOf(asking.key).requestsInMinute, 1);
});

function usedIn(uses: { at: number; amount: number }[], second: number): number {
  return uses.reduce((sum, { at, amount }) => sum + (at > second - 60 && at <= second ? amount : 0), 0);
}
