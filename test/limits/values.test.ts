import test from "ava";
import { readConfig } from "../../gateway/config/config.ts";
import {
  AddressRanges,
  isAddressRange,
  changeLimits,
  enforcedLimits,
  noLimitColumns,
  toKeyLimits,
} from "../../gateway/limits/key-limits.ts";
import { sendAgainAfterMs } from "../../gateway/limits/budgets/budget-warnings.ts";
import { Meter } from "../../gateway/limits/rates/meter.ts";
import { addRateLimitHeaders, formatDuration } from "../../gateway/limits/rates/admission.ts";

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
  t.is(toKeyLimits(set).budgetsUsd.week, 0.1);
  t.not(enforcedLimits(set), null);
  const taken = changeLimits(set, {
    requestsPerMinute: null,
    budgetsUsd: { week: null },
    addressRanges: [],
  });
  t.deepEqual(taken, noLimitColumns);
  t.is(enforcedLimits(taken), null);
  t.not(enforcedLimits({ ...noLimitColumns, dayBudget: 0 }), null, "a budget of nothing is one");
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
