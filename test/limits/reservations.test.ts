import test from "ava";
import fc from "fast-check";
import type { Database } from "../../db/database.ts";
import type { GatewayError } from "../../gateway/errors.ts";
import { Budgets } from "../../gateway/limits/budgets/budgets.ts";
import { Ledger } from "../../gateway/limits/budgets/ledger.ts";
import { Limiter } from "../../gateway/limits/rates/limiter.ts";
import { SlidingMinute } from "../../gateway/limits/rates/meter.ts";
import { limitedKey, LimitedRequest, limitsOf, noBudgets, overRecord } from "../helpers/limited-key.ts";

const now = Date.UTC(2027, 0, 15, 12);
const environment = { QUEUED_REQUESTS_PER_KEY_MAX: "1000", QUEUE_WAIT_MS_MAX: "600000" };
const prices = { inputPrice: 0, cachedInputPrice: null, cacheWritePrice: null, outputPrice: 1_000_000 };
const demand = (outputTokensMax: number | null = null) => ({ prices, inputTokens: 1, outputTokensMax });
const steps = fc.array(fc.record({ isEnd: fc.boolean(), actual: fc.nat(900) }), { maxLength: 120 });

test("costs pass a budget by no more than answers exceeded their reservations", async (t) => {
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 5_000 }), async (list, dayBudget) => {
      const limits = limitsOf(environment);
      const database = { read: async () => [] } as unknown as Database;
      const readUndisturbed = (read: () => Promise<void>) => read();
      const budgets = new Budgets({
        database,
        now: () => now,
        monotonicNow: () => now,
        limits,
        readUndisturbed,
        warn() {},
      });
      const limiter = new Limiter({ now: () => now, limits, budgets });
      const key = limitedKey("key_1", { dayBudget });
      await budgets.loadFor(key);
      const running: { request: LimitedRequest; cost: number; reserved: number }[] = [];
      let [spent, excess, largest] = [0, 0, 0];
      const end = () => {
        const first = running.shift();
        if (!first) return;
        spent += first.cost;
        excess += Math.max(0, first.cost - first.reserved);
        const ended = {
          // The average does not learn from it, so that each reservation stays known.
          status: "CANCELLED" as const,
          cost: first.cost,
          outputTokens: first.cost,
          inputTokens: 1,
          createdAt: new Date(now),
        };
        first.request.admission?.end(overRecord("key_1", ended));
      };
      for (const { isEnd, actual } of list) {
        if (isEnd) end();
        else {
          const request: LimitedRequest = new LimitedRequest(key, (error) => {
            t.is(error.code, "insufficient_quota");
            t.true(spent >= dayBudget, "refused although the budget has room");
            request.admission?.end(overRecord("key_1", { status: "FAILED", cost: 0, outputTokens: null }));
          });
          // The output's maximum makes the reservation known to the test.
          const reserved = 200;
          const isAlone = () => running.length === 0;
          const start = () => {
            if (isAlone()) largest = Math.max(largest, reserved);
            const held = running.reduce((sum, one) => sum + one.reserved, 0);
            t.true(isAlone() || spent + held + reserved <= dayBudget || actual === 0);
            running.push({ request, cost: actual, reserved });
          };
          try {
            limiter.admit(request, 4, start, () => demand(reserved));
          } catch (error) {
            request.fail(error as GatewayError);
          }
        }
      }
      while (running.length > 0) end();
      t.true(spent <= dayBudget + excess + largest, `${spent} of ${dayBudget}, excess ${excess}`);
      t.is(budgets.reservedHolders, 0);
      t.is(limiter.waitingRequests, 0);
    }),
    { numRuns: 200 },
  );
});

test("100 parallel requests wait for their tokens, and none waits while there is room", (t) => {
  const limiter = new Limiter({ now: () => now, limits: limitsOf(environment), budgets: noBudgets });
  const key = limitedKey("key_1", { tokensPerMinute: 2_000 });
  const started: LimitedRequest[] = [];
  const refused: GatewayError[] = [];
  for (let count = 0; count < 100; count++) {
    const request: LimitedRequest = new LimitedRequest(key, (error) => {
      refused.push(error);
      request.admission?.end(
        overRecord("key_1", { status: "FAILED", inputTokens: null, outputTokens: null }),
      );
    });
    limiter.admit(
      request,
      40,
      () => started.push(request),
      () => demand(),
    );
  }
  t.is(started.length, 3, "each reserves 10 tokens of input and 500 of output");
  for (let index = 0; index < started.length; index++) {
    const used = { inputTokens: 10, outputTokens: 190 };
    started[index]?.admission?.end(overRecord("key_1", used));
  }
  t.is(started.length, 10);
  t.is(limiter.statusOf(key).tokensInMinute, 2_000);
  t.is(refused.length, 90);
  t.true(refused.every(({ code, limitedBy }) => code === "token_limit_exceeded" && limitedBy === "key"));
  t.is(limiter.waitingRequests, 0);
});

for (const [subject, jumpSeconds] of [
  ["two hours", 7_200],
  ["400 days", 34_560_000],
] as const) {
  test(`a minute restarts when the clock is set back by ${subject}`, (t) => {
    const minute = new SlidingMinute();
    minute.add(40_000_000, 5);
    t.is(minute.used(40_000_000 - 30), 5);
    t.is(minute.used(40_000_000 - jumpSeconds), 0);
    minute.add(40_000_000 - jumpSeconds, 2);
    t.is(minute.freeAt(40_000_000 - jumpSeconds, 0), 40_000_000 - jumpSeconds + 60);
  });
}

test("a budget's day returns when the clock is set back, and counts only its own costs", (t) => {
  const dayMs = 86_400_000;
  const ledger = new Ledger(now);
  ledger.add(7, now, now);
  for (const jumped of [now + 400 * dayMs, now + dayMs]) {
    ledger.add(100, jumped, jumped);
    t.is(ledger.in("day", jumped).amount, 100);
    t.is(ledger.in("day", now).amount, 7);
  }
  ledger.add(1, now + dayMs, now);
  t.is(ledger.in("day", now).amount, 7);
  ledger.add(3, now, now);
  t.is(ledger.in("day", now).amount, 10);
});
