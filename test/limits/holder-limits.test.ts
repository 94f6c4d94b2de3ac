import test from "ava";
import fc from "fast-check";
import type { Database } from "../../db/database.ts";
import { noKey } from "../../db/entities/limit-event.ts";
import { budgetColumn, budgetPeriods, type LimitColumns, rateNames } from "../../db/entities/limits.ts";
import { Budgets } from "../../gateway/limits/budgets/budgets.ts";
import { holderOf, LimitsInForce } from "../../gateway/limits/holders.ts";
import { type Budget, noLimitColumns } from "../../gateway/limits/limit-table.ts";
import { addModel } from "../helpers/add-model.ts";
import { assertError } from "../helpers/assert-error.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { eventually } from "../helpers/eventually.ts";
import { limitedKey, limitsOf } from "../helpers/limited-key.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { keyOf, spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { sendCompletion } from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { databaseKinds, lockingKinds } from "../helpers/test-database.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const quotaError = { status: 402, type: "insufficient_quota", param: null, code: "insufficient_quota" };
const amount = fc.option(fc.integer({ min: 1, max: 1_000_000 }));
const columns = fc.record({
  requestsPerMinute: amount,
  tokensPerMinute: amount,
  concurrentRequests: amount,
  dayBudget: amount,
  weekBudget: amount,
  monthBudget: amount,
  totalBudget: amount,
  addressRanges: fc.constant(null),
});

test("a limit is the holder's own, else that of each holder, else the environment's", (t) => {
  const variables = fc.record({ requests: fc.nat(100), dollars: fc.nat(100) });
  fc.assert(
    fc.property(columns, columns, columns, variables, (own, each, ofGateway, { requests, dollars }) => {
      const inForce = new LimitsInForce(
        limitsOf({
          KEY_REQUESTS_PER_MINUTE_MAX: String(requests),
          PERSON_REQUESTS_PER_MINUTE_MAX: String(requests),
          PERSON_BUDGET_USD_PER_DAY_MAX: String(dollars),
        }),
      );
      const rows = { usr_own: own, people: each, keys: each, gateway: ofGateway };
      inForce.use(new Map(Object.entries(rows)));
      const environment = { ...noLimitColumns, requestsPerMinute: requests || null };
      const ofPeople = { ...environment, dayBudget: dollars * 1e9 || null };
      const expected: [key: LimitColumns | null, owner: string | null, sources: LimitColumns[][]][] = [
        [own, "usr_own", [[own, each, environment], [own, each, ofPeople], [ofGateway]]],
        [null, "usr_other", [[each, environment], [each, ofPeople], [ofGateway]]],
        [null, null, [[each, environment], [ofGateway]]],
      ];
      for (const [limits, ownerId, sources] of expected) {
        const { all, budgeted } = inForce.of(limitedKey(`key of ${ownerId}`, limits ?? {}, ownerId));
        t.is(all.length, sources.length);
        for (const [index, { holder, limits: found }] of all.entries()) {
          const first = (column: keyof LimitColumns) =>
            sources[index]?.find((source) => source[column] !== null)?.[column] ?? null;
          for (const name of rateNames) t.is(found[name], Number(first(name)), `${holder.kind} ${name}`);
          const budgets = budgetPeriods.map((period) => ({ period, amount: first(budgetColumn(period)) }));
          const wanted = budgets.filter((budget) => budget.amount !== null);
          t.deepEqual(found.budgets ?? [], wanted as Budget[]);
          t.is(
            budgeted.some((each) => each.holder === holder),
            wanted.length > 0,
          );
        }
      }
    }),
    { numRuns: 200 },
  );
});

test("a key's limits are resolved once, until a limit changes", (t) => {
  const inForce = new LimitsInForce(limitsOf());
  const key = limitedKey("key_1", { requestsPerMinute: 1 }, "usr_1");
  const before = inForce.of(key);
  t.is(inForce.of(key), before);
  inForce.use(new Map([["usr_1", { ...noLimitColumns, requestsPerMinute: 5 }]]));
  t.not(inForce.of(key), before);
  t.deepEqual(
    inForce.of(key).all.map(({ limits }) => limits.requestsPerMinute),
    [1, 5, 0],
  );
  const [, ofPerson] = inForce.of(key).all;
  t.true(inForce.enforced(holderOf("person"), "usr_1") === ofPerson?.limits, "keys share it");
});

test("a change of a key with a budget and two values in use ends", async (t) => {
  const gateway = await startPriced(t, {});
  const criteria = { name: "Rotated", models: ["demo/echo"], limits: { budgetsUsd: { day: 0.03 } } };
  const { key, value: old } = await gateway.admin.keys.create.mutate(criteria);
  t.is((await spendCent(gateway, old)).status, 200);
  const { value } = await gateway.admin.keys.rotate.mutate({ id: key.id, overlapSeconds: 600 });
  t.is((await spendCent(gateway, value)).status, 200);
  // Both values are cached, so both are looked up again at the same time.
  await gateway.admin.keys.rename.mutate({ id: key.id, name: "Renamed" });
  t.is((await spendCent(gateway, old)).status, 200);
  for (const each of [old, value]) assertError(t, await spendCent(gateway, each), quotaError);
});

test("new budgets of thousands of keys are loaded in parts, and refuse nothing before", async (t) => {
  const now = Date.UTC(2027, 0, 15, 12);
  let asked: number[] = [];
  const usageRollUps = {
    dailyCosts: async ({ ids }: { ids: string[] }) => {
      asked.push(ids.length);
      return ids.map((id) => ({ id, startsAt: new Date(now), cost: 100 }));
    },
  };
  const database = {
    read: (work: (repositories: object) => Promise<unknown>) => work({ usageRollUps }),
  } as unknown as Database;
  const inForce = new LimitsInForce(limitsOf());
  const budgets = new Budgets({
    database,
    now: () => now,
    monotonicNow: () => now,
    limits: limitsOf(),
    inForce,
    readUndisturbed: (read) => read(),
    warn() {},
  });
  const keys = Array.from({ length: 1_000 }, (_, index) => limitedKey(`key_${index}`, {}, "usr_1"));
  for (const key of keys) await budgets.loadFor(key);
  t.deepEqual(asked, [], "without a budget nothing is read");

  inForce.use(new Map([["keys", { ...noLimitColumns, dayBudget: 100 }]]));
  await budgets.limitsChanged(keys, "keys");
  t.deepEqual(asked, [200]);
  const isRefused = (key: (typeof keys)[number] | undefined) => {
    try {
      if (key) budgets.check(key);
      return false;
    } catch (error) {
      t.like(error, { code: "insufficient_quota", limitedBy: "key" });
      return true;
    }
  };
  t.true(isRefused(keys[0]));
  t.false(isRefused(keys[999]));
  asked = [];
  await budgets.refresh();
  t.deepEqual(asked.slice(0, 4), [200, 200, 200, 200]);
  t.true(isRefused(keys[999]));
  budgets.forget("key_0");
  for (let request = 0; request < 2; request++)
    t.throws(() => keys[0] && budgets.check(keys[0]), { message: /is loading/ }, "its spending was known");
  await budgets.refresh();
  t.true(isRefused(keys[0]));
  asked = [];
  await budgets.limitsChanged(keys, "usr_1");
  await budgets.limitsChanged(keys, "gateway");
  t.deepEqual(asked, [], "these changed no budget");
});

test("a budget whose spending cannot be read yet holds up no change, and applies afterwards", async (t) => {
  const gateway = await startPriced(t, {});
  const { id: holder } = await addPerson(gateway, "grace@example.com");
  const { value } = await keyOf(gateway, holder);
  const foreign = await createKey(gateway);
  for (const each of [value, foreign.value]) t.is((await spendCent(gateway, each)).status, 200);
  const { database } = gateway.services;
  const read = database.read.bind(database);
  database.read = (work) =>
    work.toString().includes("dailyCosts") ? Promise.reject(new Error("slow history")) : read(work);
  const limits = { budgetsUsd: { day: 0.01 } };
  await gateway.admin.limits.set.mutate({ holder, limits });
  await gateway.admin.keys.deactivate.mutate({ id: foreign.id });
  t.is((await spendCent(gateway, foreign.value)).status, 401);
  database.read = read;
  await gateway.services.budgets.refresh();
  assertError(t, await spendCent(gateway, value), quotaError);
});

for (const kind of lockingKinds) {
  test(`${kind}: a changed default reaches every process, but no key with its own`, async (t) => {
    const one = await startTestGateway(t, { kind });
    const DATABASE_URL = one.environment["DATABASE_URL"] ?? "";
    const other = await startTestGateway(t, { environment: { DATABASE_URL } });
    const plain = await createKey(one);
    const criteria = { name: "Own", models: ["demo/echo"], limits: { requestsPerMinute: 1_000 } };
    const own = await one.admin.keys.create.mutate(criteria);
    const ask = async (gateway: TestGateway, value: string) =>
      (await postChat(gateway, value, chatBody("demo/echo"))).status;
    for (const value of [plain.value, own.value]) t.is(await ask(other, value), 200);

    const limits = { requestsPerMinute: 1 };
    t.is((await one.admin.limits.set.mutate({ holder: "keys", limits })).revision, 1);
    t.is(await ask(one, plain.value), 200);
    t.is(await ask(one, plain.value), 429, "this process follows at once");
    await eventually(async () => (await ask(other, plain.value)) === 429);
    for (const gateway of [one, other]) t.is(await ask(gateway, own.value), 200);
    const usage = await one.admin.keys.usage.query({ id: plain.id });
    t.is(usage.requestsPerMinute.limit, 1);
  });
}

for (const kind of databaseKinds) {
  test(`${kind}: a person's budget binds all their keys at once, also after a restart`, async (t) => {
    const gateway = await startPriced(t, {}, { kind });
    const [grace, linus] = [
      await addPerson(gateway, "grace@example.com"),
      await addPerson(gateway, "linus@example.com"),
    ];
    const [one, two] = [await keyOf(gateway, grace.id), await keyOf(gateway, grace.id)];
    const foreign = await keyOf(gateway, linus.id);
    for (const { value } of [one, two, foreign]) t.is((await spendCent(gateway, value)).status, 200);

    const set = (budgetsUsd: object) =>
      gateway.admin.limits.set.mutate({ holder: grace.id, limits: { budgetsUsd } });
    await set({ month: 0.02 });
    t.regex(
      assertError(t, await spendCent(gateway, one.value), quotaError),
      /^The budget for all API keys of this key's owner is exceeded: \$0\.02 per month\./,
    );
    assertError(t, await spendCent(gateway, two.value), quotaError);
    t.is((await spendCent(gateway, foreign.value)).status, 200);
    await set({ month: null });
    t.is((await spendCent(gateway, one.value)).status, 200);
    await set({ total: 0.04 });
    t.is((await spendCent(gateway, two.value)).status, 200);
    t.regex(assertError(t, await spendCent(gateway, one.value), quotaError), /: \$0\.04 in total\. Ask /);
    const { person } = await grace.console.overview.budgets.query();
    t.deepEqual(person, [
      { period: "total", budgetUsd: 0.04, spentUsd: 0.04, spentPercent: 100, endsAt: null },
    ]);

    await gateway.close();
    const again = await startTestGateway(t, { environment: gateway.environment });
    assertError(t, await spendCent(again, two.value), quotaError);
    t.like(await again.admin.limits.get.query({ holder: grace.id }), {
      name: "grace@example.com",
      revision: 3,
      limits: { budgetsUsd: { day: null, week: null, month: null, total: 0.04 } },
    });
    await again.admin.limits.set.mutate({ holder: grace.id, limits: { budgetsUsd: { total: null } } });
    await again.admin.limits.set.mutate({ holder: "people", limits: { budgetsUsd: { week: 0.02 } } });
    for (const { value } of [two, foreign]) assertError(t, await spendCent(again, value), quotaError);
  });
}

test("a lifetime budget of the gateway counts all earlier months", async (t) => {
  const january = await startPriced(t, {}, { runtime: { now: () => Date.UTC(2027, 0, 30, 12) } });
  const { environment } = january;
  const { value } = await createKey(january);
  t.is((await spendCent(january, value)).status, 200);
  await january.close();
  const gateway = await startTestGateway(t, {
    environment,
    runtime: { now: () => Date.UTC(2027, 2, 1, 12) },
  });
  t.is((await spendCent(gateway, value)).status, 200);
  const set = (total: number) =>
    gateway.admin.limits.set.mutate({ holder: "gateway", limits: { budgetsUsd: { total } } });
  await set(0.02);
  t.regex(
    assertError(t, await spendCent(gateway, value), quotaError),
    /^The budget for the whole gateway is exceeded: \$0\.02 in total\./,
  );
  await set(0.03);
  t.is((await spendCent(gateway, value)).status, 200);
  await gateway.services.recorder.flush();
  await gateway.services.budgets.refresh();
  assertError(t, await spendCent(gateway, value), quotaError);
  const { gateway: uses } = await gateway.admin.overview.budgets.query();
  t.like(uses, [{ period: "total", spentUsd: 0.03, endsAt: null }]);
});

test("a raised budget warns anew, although the old one was watched a moment ago", async (t) => {
  const gateway = await startPriced(t, {});
  const { id: holder } = await addPerson(gateway, "grace@example.com");
  const { value } = await keyOf(gateway, holder);
  const warned = async () => {
    const events = await gateway.services.database.read(({ limitEvents }) => limitEvents.list(noKey, 10));
    return events.map(({ budget, percent }) => `${percent} % of ${budget / 1e7} cents`).toSorted();
  };
  for (const [cents, expected] of [
    [1, ["100 % of 1 cents"]],
    [2, ["100 % of 1 cents", "100 % of 2 cents"]],
  ] as const) {
    const limits = { budgetsUsd: { day: cents / 100 } };
    await gateway.admin.limits.set.mutate({ holder, limits });
    await gateway.services.budgets.refresh();
    t.is((await spendCent(gateway, value)).status, 200);
    await eventually(async () => (await warned()).length === expected.length);
    t.deepEqual(await warned(), [...expected]);
  }
});

test("a raised budget warns anew, although no key of the person is in use", async (t) => {
  const gateway = await startPriced(t, {});
  const { id: holder } = await addPerson(gateway, "grace@example.com");
  const [gone, next] = [await keyOf(gateway, holder), await keyOf(gateway, holder)];
  const set = (day: number) => gateway.admin.limits.set.mutate({ holder, limits: { budgetsUsd: { day } } });
  const warnings = () => gateway.services.database.read(({ limitEvents }) => limitEvents.list(noKey, 10));
  await set(0.01);
  t.is((await spendCent(gateway, gone.value)).status, 200);
  await eventually(async () => (await warnings()).length === 1);
  await gateway.admin.keys.delete.mutate({ id: gone.id });
  await set(0.02);
  t.is((await spendCent(gateway, next.value)).status, 200);
  await eventually(async () => (await warnings()).length === 2);
});

test("a default budget for each key marks spent keys, and bounds what members may set", async (t) => {
  const gateway = await startPriced(t, {});
  const member = await addPerson(gateway, "grace@example.com");
  const { id, value } = await keyOf(gateway, member.id);
  const limits = { tokensPerMinute: 1_000, budgetsUsd: { day: 0.01 } };
  await gateway.admin.limits.set.mutate({ holder: "keys", limits });
  t.is((await spendCent(gateway, value)).status, 200);
  assertError(t, await spendCent(gateway, value), quotaError);
  await gateway.services.recorder.flush();
  t.is((await gateway.admin.keys.list.query()).items.find((key) => key.id === id)?.budgetSpentPercent, 100);
  t.like((await gateway.admin.overview.keys.query()).budgets, {
    count: 1,
    keys: [{ id, spentPercent: 100 }],
  });
  const usage = await member.console.keys.usage.query({ id });
  t.like(usage.budgets[0], { period: "day", budgetUsd: 0.01, spentUsd: 0.01 });
  t.is(usage.addressRanges, null);
  const addressRanges = ["127.0.0.0/8"];
  await gateway.admin.limits.set.mutate({ holder: "keys", limits: { addressRanges } });
  t.deepEqual((await member.console.keys.usage.query({ id })).addressRanges, addressRanges);

  const { keys } = member.console;
  for (const loose of [{ tokensPerMinute: 1_001 }, { budgetsUsd: { day: 0.02 } }]) {
    await t.throwsAsync(keys.setLimits.mutate({ id, limits: loose }), { message: /Only an administrator/ });
    await t.throwsAsync(keys.create.mutate({ name: "K", limits: loose }), {
      message: /Only an administrator/,
    });
  }
  await gateway.admin.keys.setLimits.mutate({ id, limits: { budgetsUsd: { day: 0.02 } } });
  t.is((await spendCent(gateway, value)).status, 200, "its own budget replaces the default");
});

test("addresses must be allowed by each holder of a key", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  const statusOf = async () => (await postChat(gateway, value, chatBody("demo/echo"))).status;
  const allow = (holder: string, addressRanges: string[] | null) =>
    gateway.admin.limits.set.mutate({ holder, limits: { addressRanges } });
  await allow("gateway", ["127.0.0.0/8"]);
  t.is(await statusOf(), 200);
  await allow("people", ["10.0.0.0/8"]);
  t.is(await statusOf(), 401);
  const { id } = await gateway.admin.auth.me.query();
  await allow(id, ["127.0.0.1"]);
  t.is(await statusOf(), 200, "their own limit replaces the one of each person");
  await allow("gateway", ["10.0.0.0/8"]);
  t.is(await statusOf(), 401);
});

test("the gateway's concurrent requests can be limited", async (t) => {
  const gateway = await startTestGateway(t);
  const held: (() => void)[] = [];
  const { slug } = await addModel(t, gateway, (response) => {
    held.push(() => sendCompletion(response));
  });
  const { value } = await createKey(gateway, [slug]);
  await gateway.admin.limits.set.mutate({ holder: "gateway", limits: { concurrentRequests: 1 } });
  const first = postChat(gateway, value, chatBody(slug));
  const release = await eventually(() => held[0]);
  t.is((await postChat(gateway, value, chatBody(slug))).status, 429);
  release();
  t.is((await first).status, 200);
});

test("requests that wait for tokens start as soon as the limit is raised", async (t) => {
  const gateway = await startTestGateway(t, { environment: { QUEUE_WAIT_MS_MAX: "600000" } });
  const held: (() => void)[] = [];
  const { slug } = await addModel(t, gateway, (response) => {
    held.push(() => sendCompletion(response));
  });
  const { value } = await createKey(gateway, [slug]);
  const set = (tokensPerMinute: number) =>
    gateway.admin.limits.set.mutate({ holder: "gateway", limits: { tokensPerMinute } });
  // Each request reserves about 500 tokens for its answer.
  await set(600);
  const first = postChat(gateway, value, chatBody(slug));
  await eventually(() => held.length === 1);
  const second = postChat(gateway, value, chatBody(slug));
  await eventually(() => gateway.services.limiter.waitingRequests === 1);
  await set(6_000);
  await eventually(() => held.length === 2);
  for (const release of held) release();
  for (const { status } of await Promise.all([first, second])) t.is(status, 200);
});

const shared = shareGateway({ environment: { PERSON_TOKENS_PER_MINUTE_MAX: "5000" } });

test("each limit in force names its source", async (t) => {
  const { limits } = shared().admin;
  const person = await addPerson(shared(), "sources@example.com");
  const empty = await person.console.limits.get.query({ holder: person.id });
  const variable = "PERSON_TOKENS_PER_MINUTE_MAX";
  const fromEnvironment = { limit: "tokensPerMinute", value: 5_000, source: "environment", variable };
  t.like(empty, { holder: person.id, name: "sources@example.com", revision: 0 });
  t.deepEqual(empty.inForce, [fromEnvironment]);

  await limits.set.mutate({ holder: "people", limits: { budgetsUsd: { day: 5, week: 9 } } });
  const addressRanges = ["10.0.0.0/8"];
  const own = { requestsPerMinute: 7, budgetsUsd: { day: 0.5 }, addressRanges };
  await limits.set.mutate({ holder: person.id, limits: own });
  const { inForce } = await person.console.limits.get.query({ holder: person.id });
  t.deepEqual(inForce, [
    { limit: "requestsPerMinute", value: 7, source: "own", variable: null },
    fromEnvironment,
    { limit: "budgetsUsd.day", value: 0.5, source: "own", variable: null },
    { limit: "budgetsUsd.week", value: 9, source: "people", variable: null },
    { limit: "addressRanges", value: addressRanges, source: "own", variable: null },
  ]);
  const people = await limits.get.query({ holder: "people" });
  t.deepEqual(
    people.inForce.map(({ source }) => source),
    ["environment", "own", "own"],
  );
  await limits.set.mutate({ holder: "people", limits: { budgetsUsd: { day: null, week: null } } });
});

test("members see their own limits only, and set none", async (t) => {
  const person = await addPerson(shared(), "member@example.com");
  const { limits } = person.console;
  t.is((await limits.get.query({ holder: person.id })).holder, person.id);
  const { id } = await shared().admin.auth.me.query();
  const forbidden = { message: "This action requires an administrator. Ask an administrator for access." };
  for (const holder of ["gateway", "people", "keys", id, "usr_absent", "nonsense"])
    await t.throwsAsync(limits.get.query({ holder }), forbidden);
  for (const holder of ["gateway", person.id])
    await t.throwsAsync(limits.set.mutate({ holder, limits: { requestsPerMinute: 1 } }), forbidden);
  const own = await shared().admin.limits.get.query({ holder: person.id });
  t.is(own.revision, 0, "nothing was written");
});

test("an unknown holder is not found", async (t) => {
  const { limits } = shared().admin;
  const { id } = await createKey(shared());
  for (const holder of ["nobody", "usr_absent", "constructor", "Gateway", id]) {
    const error = await t.throwsAsync(limits.get.query({ holder }), { message: /^No holder of limits/ });
    t.like(error, { data: { code: "NOT_FOUND", param: "holder" } });
    await t.throwsAsync(limits.set.mutate({ holder, limits: {} }), { message: /^No holder of limits/ });
  }
});

const invalid: [limit: string, value: string][] = [
  ["requestsPerMinute", "0"],
  ["requestsPerMinute", "-1"],
  ["requestsPerMinute", "1.5"],
  ["requestsPerMinute", "1e999"],
  ["tokensPerMinute", "-1e999"],
  ["tokensPerMinute", "2147483648"],
  ["concurrentRequests", '"NaN"'],
  ["budgetsUsd.day", "-0.01"],
  ["budgetsUsd.week", "1e999"],
  ["budgetsUsd.month", "1000000.01"],
  ["budgetsUsd.total", '"NaN"'],
  ["addressRanges.0", '"10.0.0.0/33"'],
];

for (const [limit, value] of invalid) {
  test(`${limit} of ${value} is refused by name, and changes nothing`, async (t) => {
    const { url, accessToken, admin } = shared();
    const before = await admin.limits.get.query({ holder: "keys" });
    const [first = "", member] = limit.split(".");
    const limits = member === undefined ? value : member === "0" ? `[${value}]` : `{"${member}":${value}}`;
    // JSON.stringify would write null for infinity.
    const response = await fetch(`${url}/trpc/limits.set`, {
      method: "POST",
      headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
      body: `{"holder":"keys","limits":{"${first}":${limits}}}`,
    });
    t.is(response.status, 400);
    const { error } = (await response.json()) as { error: { data: { param: string } } };
    t.is(error.data.param, `limits.${limit}`);
    t.deepEqual(await admin.limits.get.query({ holder: "keys" }), before);
  });
}

test("a change has an audit entry with the old and the new limits", async (t) => {
  const { limits, audit } = shared().admin;
  const { id: entityId, email } = await addPerson(shared(), "audited@example.com");
  const change = { budgetsUsd: { day: 2 }, requestsPerMinute: 9 };
  await limits.set.mutate({ holder: entityId, limits: change });
  await limits.set.mutate({ holder: entityId, limits: { requestsPerMinute: null } });
  const { items } = await audit.list.query({ entityId, action: "limits.set" });
  t.is(items.length, 2);
  t.like(items[0], {
    label: "Limits changed",
    entity: { type: "limits", id: entityId, name: email },
    details: { requestsPerMinute: { from: 9, to: null } },
  });
  const budgets = { day: null, week: null, month: null, total: null };
  t.deepEqual(items[1]?.details, {
    requestsPerMinute: { from: null, to: 9 },
    budgetsUsd: { from: budgets, to: { ...budgets, day: 2 } },
  });
});

for (const kind of lockingKinds) {
  test(`${kind}: of simultaneous edits of a revision one succeeds, also of the first`, async (t) => {
    const { limits } = (await startTestGateway(t, { kind })).admin;
    for (const revision of [0, 1]) {
      const edits = Array.from({ length: 5 }, (_, index) =>
        limits.set.mutate({ holder: "gateway", revision, limits: { requestsPerMinute: index + 1_000 } }),
      );
      const results = await Promise.allSettled(edits);
      t.is(results.filter(({ status }) => status === "fulfilled").length, 1);
      for (const result of results) {
        if (result.status === "fulfilled") continue;
        t.like(result.reason, { data: { code: "CONFLICT", currentRevision: revision + 1 } });
      }
    }
    t.is((await limits.set.mutate({ holder: "gateway", limits: {} })).revision, 3, "who names none, wins");
  });
}
