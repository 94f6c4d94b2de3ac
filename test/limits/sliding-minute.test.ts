import test from "ava";
import fc from "fast-check";
import { Limiter } from "../../gateway/limits/rates/limiter.ts";
import { Meter, SlidingMinute } from "../../gateway/limits/rates/meter.ts";
import { GatewayError } from "../../gateway/errors.ts";
import { limitedKey, LimitedRequest, limitsOf, noBudgets, overRecord } from "../helpers/limited-key.ts";
import { readConfig } from "../../gateway/config/config.ts";
import { AddressRanges, isAddressRange } from "../../gateway/limits/address-ranges.ts";
import { changeLimits, noLimitColumns, ownLimits, toLimits } from "../../gateway/limits/limit-table.ts";
import { sendAgainAfterMs } from "../../gateway/limits/budgets/budget-warnings.ts";
import { addRateLimitHeaders, formatDuration } from "../../gateway/limits/rates/admission.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";
import { startValkey, valkeyProgram } from "../helpers/valkey-server.ts";

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

for (const text of ["10.0.0.0/8", "127.0.0.1", "::1", "2001:db8::/32", "0.0.0.0/0", "::ffff:10.0.0.0/104"]) {
  test(`${text} is an address or a range`, (t) => t.true(isAddressRange(text)));
}

for (const text of [
  "",
  "10.0.0",
  "10.0.0.0/33",
  "10.0.0.0/",
  "10.0.0.0/-1",
  "10.0.0.0/8/8",
  "::1/129",
  "fe80::1%eth0",
  "localhost",
  "10.0.0.0/8 ",
  "010.0.0.1",
  "10.0.0.0/0x8",
  "10.0.0.0/ 8",
  "1e1.0.0.0",
]) {
  test(`"${text}" is not an address or a range`, (t) => t.false(isAddressRange(text)));
}

test("an address matches a range in any notation", (t) => {
  const ranges = new AddressRanges(["10.1.0.0/16", "192.168.1.7", "2001:db8::/32"]);
  for (const address of ["10.1.255.255", "::ffff:10.1.2.3", "192.168.1.7", "2001:db8:1::1"]) {
    t.true(ranges.has(address), address);
  }
  for (const address of ["10.2.0.0", "::ffff:10.2.2.3", "192.168.1.8", "2001:db9::1", "::1", "", "wrong"]) {
    t.false(ranges.has(address), address);
  }
});

for (const [seconds, text] of [
  [0, "0s"],
  [1, "1s"],
  [59, "59s"],
  [60, "1m0s"],
  [361, "6m1s"],
] as const) {
  test(`${seconds} seconds are ${text}`, (t) => t.is(formatDuration(seconds), text));
}

test("a clock set back keeps the announced reset time", (t) => {
  const meter = new Meter();
  meter.addRequest(100, 1);
  const limits = { requestsPerMinute: 9, tokensPerMinute: 0, concurrentRequests: 0 };
  const headers: string[] = [];
  addRateLimitHeaders(headers, [{ id: "key_1", holder: "key", meter, ...limits }], 90);
  t.is(headers[headers.indexOf("x-ratelimit-reset-requests") + 1], "1m10s");
});

test("limits that are set and removed leave no trace", (t) => {
  const set = changeLimits(noLimitColumns, {
    requestsPerMinute: 1,
    budgetsUsd: { week: 0.1 },
    addressRanges: ["::1"],
  });
  t.is(set.weekBudget, 100_000_000);
  t.is(toLimits(set).budgetsUsd.week, 0.1);
  t.not(ownLimits(set), null);
  const taken = changeLimits(set, {
    requestsPerMinute: null,
    budgetsUsd: { week: null },
    addressRanges: [],
  });
  t.deepEqual(taken, noLimitColumns);
  t.is(ownLimits(taken), null);
  t.not(ownLimits({ ...noLimitColumns, dayBudget: 0 }), null, "a budget of nothing is one");
});

test("a webhook requires an address and a sufficiently long secret", (t) => {
  const LIMIT_WEBHOOK_URL = "https://hooks.example.com/limits";
  const LIMIT_WEBHOOK_SECRET = "0123456789abcdef0123456789abcdef";
  t.throws(() => readConfig({ LIMIT_WEBHOOK_URL }), {
    message: /only one of LIMIT_WEBHOOK_URL and LIMIT_WEBHOOK_SECRET is set/,
  });
  t.throws(() => readConfig({ LIMIT_WEBHOOK_URL, LIMIT_WEBHOOK_SECRET: "short" }), { message: /32 bytes/ });
  const { limitWebhook } = readConfig({ LIMIT_WEBHOOK_URL, LIMIT_WEBHOOK_SECRET });
  t.deepEqual(limitWebhook, { url: LIMIT_WEBHOOK_URL, secret: LIMIT_WEBHOOK_SECRET });
  t.is(readConfig({}).limitWebhook, null);
});

test("a failed warning is retried for a day and a half", (t) => {
  const waitsMs: number[] = [];
  for (let waitMs = sendAgainAfterMs(0); waitMs !== null; waitMs = sendAgainAfterMs(waitsMs.length))
    waitsMs.push(waitMs);
  const hours = waitsMs.reduce((sum, waitMs) => sum + waitMs, 0) / 3_600_000;
  t.is(waitsMs[0], 30_000);
  t.true(hours > 35 && hours < 37, `${hours}`);
});

const startMs = 1_700_000_000_000;

function open(environment: Record<string, string> = {}) {
  const clock = { now: startMs };
  const limiter = new Limiter({
    now: () => clock.now,
    limits: limitsOf(environment),
    budgets: noBudgets,
  });
  return { clock, limiter };
}

test("a call without a model counts as one request, without tokens and concurrency", async (t) => {
  const { limiter, clock } = open();
  const limits = { requestsPerMinute: 2, tokensPerMinute: 100, concurrentRequests: 1 };
  const key = limitedKey("key_1", limits);
  limiter.admit(new LimitedRequest(key), 40, () => {});
  await limiter.countRequest(key);
  t.like(limiter.statusOf(key), { requestsInMinute: 2, concurrentRequests: 1 });
  const error = await t.throwsAsync<GatewayError>(limiter.countRequest(key));
  t.like(error, { code: "rate_limit_exceeded", limitedBy: "key", retryAfterSeconds: 60 });
  clock.now += 60_000;
  await t.notThrowsAsync(limiter.countRequest(key));
});

test("calls without a model count for the person and the gateway", async (t) => {
  for (const [variable, limitedBy] of [
    ["PERSON_REQUESTS_PER_MINUTE_MAX", "person"],
    ["GATEWAY_REQUESTS_PER_MINUTE_MAX", "gateway"],
  ] as const) {
    const { limiter } = open({ [variable]: "1" });
    await limiter.countRequest(limitedKey("key_1", {}, "usr_1"));
    await t.throwsAsync(limiter.countRequest(limitedKey("key_2", {}, "usr_1")), {
      message: new RegExp(limitedBy === "person" ? "owner" : "whole gateway"),
    });
  }
});

test("a check counts nothing, and its refusal has the headers of the limits", (t) => {
  const { limiter } = open();
  const asking = new LimitedRequest(limitedKey("key_1", { requestsPerMinute: 1 }));
  for (let checks = 0; checks < 5; checks++) limiter.check(asking);
  t.is(limiter.statusOf(asking.key).requestsInMinute, 0);
  limiter.admit(asking, 1, () => {});
  const next = new LimitedRequest(asking.key);
  t.throws(() => limiter.check(next), { code: "rate_limit_exceeded" } as object);
  t.deepEqual(next.admission?.addHeaders([]).slice(0, 4), [
    "x-ratelimit-limit-requests",
    "1",
    "x-ratelimit-remaining-requests",
    "0",
  ]);
});

if (valkeyProgram) {
  test("in Valkey, calls without a model count over all processes", async (t) => {
    const { url } = await startValkey(t);
    const first = await startTestGateway(t, { environment: { VALKEY_URL: url } });
    const environment = { VALKEY_URL: url, DATABASE_URL: first.environment["DATABASE_URL"] ?? "" };
    const second = await startTestGateway(t, { environment, withoutAdministrator: true });
    const { id, value } = await createKey(first);
    const limits = { requestsPerMinute: 3, concurrentRequests: 1 };
    await first.admin.keys.setLimits.mutate({ id, limits });
    const list = async (base: string) => {
      const response = await fetch(`${base}/v1/models`, { headers: { authorization: `Bearer ${value}` } });
      await response.arrayBuffer();
      return response.status;
    };
    const statuses: number[] = [];
    for (const base of [first.url, second.url, first.url, second.url, first.url]) {
      statuses.push(await list(base));
    }
    t.deepEqual(statuses, [200, 200, 200, 429, 429]);
  });
}
