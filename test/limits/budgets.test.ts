import test, { type ExecutionContext } from "ava";
import { Ledger, periodAt } from "../../gateway/limits/budgets/ledger.ts";
import { Spending } from "../../gateway/limits/budgets/spending.ts";
import { assertError } from "../helpers/assert-error.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";

const quotaError = { status: 402, type: "insufficient_quota", param: null, code: "insufficient_quota" };

async function priceEcho({ admin }: TestGateway, input: number, output: number): Promise<void> {
  await admin.models.update.mutate({ slug: "demo/echo", prices: { input, output } });
}

async function keyWithBudget(gateway: TestGateway, budgetsUsd: object) {
  const criteria = { name: "Budgeted", models: ["demo/echo"], limits: { budgetsUsd } };
  const { key, value } = await gateway.admin.keys.create.mutate(criteria);
  return { id: key.id, value };
}

const ask = (gateway: Pick<TestGateway, "url">, value: string) =>
  postChat(gateway, value, chatBody("demo/echo", "one two three"));

async function costOfOne(t: ExecutionContext, gateway: TestGateway): Promise<number> {
  const { id, value } = await keyWithBudget(gateway, {});
  await ask(gateway, value);
  const [record] = await usageOf(gateway, id);
  t.true((record?.cost ?? 0) > 0);
  return record?.cost ?? 0;
}

test("a spent budget finishes requests in flight and refuses the next", async (t) => {
  const gateway = await startTestGateway(t);
  await priceEcho(gateway, 1, 3);
  const cost = await costOfOne(t, gateway);
  const { id, value } = await keyWithBudget(gateway, { month: (cost * 3 - 1) / 1e9 });
  for (let request = 0; request < 3; request++) t.is((await ask(gateway, value)).status, 200);
  const refused = await ask(gateway, value);
  t.regex(
    assertError(t, refused, quotaError),
    /is exceeded: \$[\d.]+ per month\. Retry after \d{4}-\d\d-01 00:00 UTC, or ask /,
  );
  const [record] = await usageOf(gateway, id);
  t.like(record, {
    status: "FAILED",
    httpStatus: 402,
    errorCode: "insufficient_quota",
    attempts: 0,
    cost: 0,
  });

  await gateway.close();
  const again = await startTestGateway(t, { environment: gateway.environment });
  assertError(t, await ask(again, value), quotaError);
  await again.admin.keys.setLimits.mutate({ id, limits: { budgetsUsd: { month: (cost * 3 + 1) / 1e9 } } });
  t.is((await ask(again, value)).status, 200, "a nano-dollar is left");
  assertError(t, await ask(again, value), quotaError);
});

test("a new budget counts earlier spending, shipped or not", async (t) => {
  const gateway = await startTestGateway(t, { environment: { USAGE_FLUSH_INTERVAL_MS: "100000" } });
  await priceEcho(gateway, 1, 3);
  const cost = await costOfOne(t, gateway);
  const { id, value } = await keyWithBudget(gateway, {});
  await ask(gateway, value);
  await gateway.services.recorder.flush();
  await ask(gateway, value);
  await gateway.admin.keys.setLimits.mutate({ id, limits: { budgetsUsd: { total: (cost * 2) / 1e9 } } });
  assertError(t, await ask(gateway, value), quotaError);
  await gateway.admin.keys.setLimits.mutate({
    id,
    limits: { budgetsUsd: { total: (cost * 2 + 1) / 1e9 } },
  });
  t.is((await ask(gateway, value)).status, 200);
  assertError(t, await ask(gateway, value), quotaError);
});

for (const [kind, variable] of [
  ["sqlite", ""],
  [databaseKinds.at(-1), "GATEWAY_BUDGET_USD_PER_DAY_MAX"],
] as const) {
  test(`${kind}: an idle process learns what others spent of ${variable || "a key's budget"}`, async (t) => {
    let now = Date.UTC(2027, 0, 15, 12);
    const runtime = { now: () => now };
    // The interval is long, because the test refreshes the budgets itself.
    const environment = { BUDGET_REFRESH_INTERVAL_MS: "100000", ...(variable && { [variable]: "0.02" }) };
    const one = await startPriced(t, environment, { ...(kind && { kind }), runtime });
    const DATABASE_URL = one.environment["DATABASE_URL"] ?? "";
    const other = await startTestGateway(t, { environment: { ...environment, DATABASE_URL }, runtime });
    const { value } = await keyWithBudget(one, { day: variable ? 1 : 0.02 });
    t.is((await spendCent(other, value)).status, 200);
    await other.services.recorder.flush();
    for (let second = 0; second < 100; second += 10) {
      now += 10_000;
      await other.services.budgets.refresh();
    }

    t.is((await spendCent(one, value)).status, 200);
    await one.services.recorder.flush();
    now += 11_000;
    await other.services.budgets.refresh();
    const burst = await Promise.all(Array.from({ length: 5 }, () => spendCent(other, value)));
    t.deepEqual(
      burst.map(({ status }) => status),
      [402, 402, 402, 402, 402],
    );
  });
}

test("idle keys are read ever less often, at least once a minute, in small batches", async (t) => {
  let now = Date.UTC(2027, 0, 15, 12);
  const readAt = new Map<string, number[]>();
  let readTogetherMax = 0;
  const spending = new Spending({
    now: () => now,
    readCosts: async (ids) => {
      for (const id of ids) readAt.set(id, [...(readAt.get(id) ?? []), now]);
      return [];
    },
    readUndisturbed: (read) => read(),
    unshipped: () => new Map(),
  });
  const ids = Array.from({ length: 1_000 }, (_, index) => `key_${index}`);
  await spending.load(ids);
  await spending.refresh();
  const seconds = 3_600;
  for (let second = 0; second < seconds; second++) {
    now += 1_000;
    const busy = spending.ledgerOf("key_0");
    if (busy) busy.isInUse = true;
    const before = countReads(readAt);
    await spending.refresh();
    readTogetherMax = Math.max(readTogetherMax, countReads(readAt) - before);
  }
  t.is(readAt.get("key_0")?.length, seconds + 2);
  t.true(readTogetherMax <= 201, `${readTogetherMax}`);
  for (const id of ids.slice(1)) {
    const times = [...(readAt.get(id) ?? []), now];
    const longestMs = Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? 0)));
    t.true(longestMs <= 61_000, `${id} ${longestMs}`);
    t.true(times.length < 150, `${id} ${times.length}`);
  }
});

function countReads(readAt: ReadonlyMap<string, readonly number[]>): number {
  let count = 0;
  for (const times of readAt.values()) count += times.length;
  return count;
}

const at = (text: string) => Date.parse(text);

const cases = [
  ["day", "2026-11-21T23:59:59.999Z", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"],
  ["week", "2026-11-22T23:59:59.999Z", "2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z"],
  ["week", "2026-11-23T00:00:00Z", "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"],
  ["week", "2027-01-01T12:00:00Z", "2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z"],
  ["month", "2028-02-29T12:00:00Z", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"],
  ["month", "2026-12-31T23:59:59.999Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"],
] as const;

for (const [period, now, startsAt, endsAt] of cases) {
  test(`the ${period} of ${now} starts at ${startsAt}`, (t) => {
    t.deepEqual(periodAt(period, at(now)), { startsAt: at(startsAt), endsAt: at(endsAt) });
  });
}

test("every week starts on Monday", (t) => {
  for (let day = 0; day < 5_000; day++) {
    const { startsAt, endsAt } = periodAt("week", day * 86_400_000 + 5);
    t.is(new Date(startsAt).getUTCDay(), 1);
    t.is(endsAt - startsAt, 7 * 86_400_000);
    t.true(startsAt <= day * 86_400_000 && day * 86_400_000 < endsAt);
  }
});

test("a request counts in the period in which it started", (t) => {
  const before = at("2026-11-30T23:59:59Z");
  const after = at("2026-12-01T00:00:05Z");
  const ledger = new Ledger(before);
  ledger.add(7, before, before);
  t.is(ledger.in("day", before).amount, 7);
  ledger.add(100, before, after);
  t.is(ledger.in("day", after).amount, 0);
  t.is(ledger.in("week", after).amount, 107, "1 December is a Tuesday");
  t.is(ledger.in("month", after).amount, 0);
  t.is(ledger.in("total", after).amount, 107);
});

/** The upstream reports 2 output tokens, so each request costs 0.06 dollars. */
const prices = { input: 0, output: 30_000 };
const asked = { max_tokens: 2 };

test("100 parallel requests pass a budget by at most one of them", async (t) => {
  const upstream = await createUpstream(t, (_, response) => sendCompletion(response));
  const gateway = await startTestGateway(t);
  const { value, id, model } = await connectUpstream(gateway, upstream, { prices });
  await gateway.admin.keys.setLimits.mutate({ id, limits: { budgetsUsd: { day: 0.05 } } });
  const bodies = Array.from({ length: 100 }, () => chatBody(model, "Hello", asked));
  const answers = await Promise.all(bodies.map((body) => postChat(gateway, value, body)));
  const records = await usageOf(gateway, id);
  t.is(
    records.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    60_000_000,
  );
  t.is(upstream.requests.length, 1);
  t.is(answers.filter(({ status }) => status === 200).length, 1);
  for (const { status, headers, text } of answers) {
    if (status === 200) continue;
    t.true(status === 402 || status === 429, `${status} ${text}`);
    if (status === 429) t.regex(headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  }
  t.is((await postChat(gateway, value, bodies[0])).status, 402, "it is spent");
});

test("a request that waited too long gets 429 and succeeds afterwards", async (t) => {
  const first = Promise.withResolvers<() => void>();
  let requests = 0;
  const upstream = await createUpstream(t, (_, response) => {
    if (requests++ === 0) first.resolve(() => sendCompletion(response));
    else sendCompletion(response);
  });
  const gateway = await startTestGateway(t, { environment: { QUEUE_WAIT_MS_MAX: "1" } });
  const { value, id, model } = await connectUpstream(gateway, upstream, { prices });
  await gateway.admin.keys.setLimits.mutate({ id, limits: { budgetsUsd: { day: 0.15 } } });
  // It reserves 0.12 dollars, and costs 0.06.
  const large = postChat(gateway, value, chatBody(model, "Hello", { max_tokens: 4 }));
  const answer = await first.promise;
  const body = chatBody(model, "Hello", asked);
  const refused = await postChat(gateway, value, body);
  t.is(refused.status, 429);
  t.is(refused.headers.get("retry-after"), "5");
  t.regex(refused.text, /Requests in progress hold the rest of the budget for this API key/);
  t.notRegex(refused.text, /insufficient_quota/);
  answer();
  t.is((await large).status, 200);
  t.is((await postChat(gateway, value, body)).status, 200);
  const [, record] = await usageOf(gateway, id);
  t.like(record, {
    httpStatus: 429,
    errorCode: "rate_limit_exceeded",
    limitedBy: "key",
    errorReason: "budget_per_day",
  });
});

test("ten parallel requests of a tool do not wait while a budget has room", async (t) => {
  const all = Promise.withResolvers<void>();
  const held = { count: 0 };
  // No answer before the tenth request: if one of them waited for another, none would be answered.
  const upstream = await createUpstream(t, async (_, response) => {
    if (++held.count % 10 === 0) all.resolve();
    await all.promise;
    sendCompletion(response);
  });
  const environment = {
    PERSON_BUDGET_USD_PER_DAY_MAX: "0.1",
    GATEWAY_BUDGET_USD_PER_DAY_MAX: "0.1",
    QUEUED_REQUESTS_PER_KEY_MAX: "0",
  };
  const gateway = await startTestGateway(t, { environment });
  const settings = { prices: { input: 3, output: 15 } };
  const { value, id, model } = await connectUpstream(gateway, upstream, settings);
  await gateway.admin.keys.setLimits.mutate({ id, limits: { budgetsUsd: { day: 0.1 } } });
  // Coding tools ask for far more output than they use.
  const bodies = Array.from({ length: 10 }, () => chatBody(model, "Hello", { max_tokens: 64_000 }));
  const answers = await Promise.all(bodies.map((body) => postChat(gateway, value, body)));
  t.deepEqual(
    answers.map(({ status }) => status),
    bodies.map(() => 200),
  );
});
