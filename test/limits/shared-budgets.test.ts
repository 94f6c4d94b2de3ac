import test, { type ExecutionContext } from "ava";
import { addModel } from "../helpers/add-model.ts";
import { assertError } from "../helpers/assert-error.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { keyOf, spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { sendCompletion } from "../helpers/scripted-upstream.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";
import { recomputeCosts } from "../../gateway/usage/history/recompute-costs.ts";
import { assertRollUpsMatch } from "../helpers/assert-roll-ups-match.ts";
import { lockingKinds } from "../helpers/test-database.ts";

const quotaError = { status: 402, type: "insufficient_quota", param: null, code: "insufficient_quota" };

test("a person's keys share a budget, also after a restart", async (t) => {
  const gateway = await startPriced(t, { PERSON_BUDGET_USD_PER_MONTH_MAX: "0.03" });
  const [grace, linus] = [
    await addPerson(gateway, "grace@example.com"),
    await addPerson(gateway, "linus@example.com"),
  ];
  const [one, other, foreign] = [
    await keyOf(gateway, grace.id),
    await keyOf(gateway, grace.id),
    await keyOf(gateway, linus.id),
  ];
  for (const { value } of [one, other, one]) t.is((await spendCent(gateway, value)).status, 200);
  const refused = await spendCent(gateway, other.value);
  t.regex(
    assertError(t, refused, quotaError),
    /^The budget for all API keys of this key's owner is exceeded: \$0\.03 per month\. Retry after \d{4}-\d\d-01 00:00 UTC, /,
  );
  assertError(t, await spendCent(gateway, one.value), quotaError);
  const [record, first] = await usageOf(gateway, other.id);
  t.like(record, { status: "FAILED", httpStatus: 402, errorCode: "insufficient_quota", cost: 0 });
  t.is(first?.cost, 10_000_000);
  t.is((await spendCent(gateway, foreign.value)).status, 200);
  const late = await keyOf(gateway, grace.id);
  assertError(t, await spendCent(gateway, late.value), quotaError);
  await gateway.admin.keys.delete.mutate({ id: one.id });
  assertError(t, await spendCent(gateway, other.value), quotaError);

  await gateway.close();
  const again = await startTestGateway(t, {
    environment: { ...gateway.environment, PERSON_BUDGET_USD_PER_MONTH_MAX: "0.030000001" },
  });
  t.is((await spendCent(again, other.value)).status, 200, "a nano-dollar is left");
  assertError(t, await spendCent(again, other.value), quotaError);
  for (let request = 0; request < 3; request++) t.is((await spendCent(again, foreign.value)).status, 200);
  assertError(t, await spendCent(again, foreign.value), quotaError);
});

test("all keys share the gateway's budget, also after a restart", async (t) => {
  const gateway = await startPriced(t, { GATEWAY_BUDGET_USD_PER_DAY_MAX: "0.03" });
  const member = await addPerson(gateway, "grace@example.com");
  const [own, members] = [await createKey(gateway), await keyOf(gateway, member.id)];
  // Only the first start with SQLite creates a key without an owner.
  const third = gateway.services.firstKeyValue ?? own.value;
  for (const value of [own.value, members.value, third]) t.is((await spendCent(gateway, value)).status, 200);
  for (const { value } of [own, members]) {
    t.regex(
      assertError(t, await spendCent(gateway, value), quotaError),
      /^The budget for the whole gateway is exceeded: \$0\.03 per day\. Retry after \d{4}-\d\d-\d\d 00:00 UTC, /,
    );
  }
  t.like((await usageOf(gateway, members.id))[0], { httpStatus: 402, errorCode: "insufficient_quota" });

  await gateway.close();
  const { GATEWAY_BUDGET_USD_PER_DAY_MAX: _spent, ...environment } = gateway.environment;
  const limited = { ...environment, GATEWAY_BUDGET_USD_PER_MONTH_MAX: "0.04" };
  const again = await startTestGateway(t, { environment: limited });
  t.is((await spendCent(again, members.value)).status, 200);
  assertError(t, await spendCent(again, own.value), quotaError);
});

test("unshipped spending counts, and parallel requests wait for it", async (t) => {
  const gateway = await startTestGateway(t, {
    environment: {
      USAGE_FLUSH_INTERVAL_MS: "100000",
      BUDGET_REFRESH_INTERVAL_MS: "20",
      PERSON_BUDGET_USD_PER_DAY_MAX: "0.02",
      GATEWAY_BUDGET_USD_PER_MONTH_MAX: "0.03",
    },
  });
  const held: (() => void)[] = [];
  const { slug } = await addModel(t, gateway, (response) => {
    held.push(() => sendCompletion(response));
  });
  // The upstream reports five input tokens, so a request costs a cent.
  await gateway.admin.models.update.mutate({ slug, prices: { input: 2_000, output: 0 } });
  const member = await addPerson(gateway, "grace@example.com");
  const criteria = { name: "Grace's", models: [slug], ownerId: member.id };
  const { value } = await gateway.admin.keys.create.mutate(criteria);
  const own = await createKey(gateway, [slug]);
  const send = (keyValue: string) => postChat(gateway, keyValue, chatBody(slug));

  const underWay = [send(value), send(value), send(value)];
  // Each may spend the whole budget, so one runs at a time until the budget is spent.
  for (const index of [0, 1]) {
    await eventually(() => held.length > index);
    held[index]?.();
  }
  const statuses = (await Promise.all(underWay)).map(({ status }) => status);
  t.deepEqual(statuses.toSorted(), [200, 200, 402]);
  const last = send(own.value);
  await eventually(() => held.length === 3);
  held[2]?.();
  t.is((await last).status, 200);
  t.regex(assertError(t, await send(value), quotaError), /of this key's owner is exceeded: \$0\.02 per day/);
  t.regex(
    assertError(t, await send(own.value), quotaError),
    /the whole gateway is exceeded: \$0\.03 per month/,
  );
  await gateway.services.budgets.refresh();
  assertError(t, await send(value), quotaError);
  await gateway.services.recorder.flush();
  await gateway.services.budgets.refresh();
  assertError(t, await send(value), quotaError);
});

test("shared budgets reset when their day or month starts in UTC", async (t) => {
  let now = Date.UTC(2027, 0, 30, 23, 59, 0);
  const environment = { PERSON_BUDGET_USD_PER_DAY_MAX: "0.01", GATEWAY_BUDGET_USD_PER_MONTH_MAX: "0.02" };
  const gateway = await startPriced(t, environment, { runtime: { now: () => now } });
  const { value } = await createKey(gateway);
  const member = await addPerson(gateway, "grace@example.com");
  const members = await keyOf(gateway, member.id);
  t.is((await spendCent(gateway, value)).status, 200);
  t.regex(
    assertError(t, await spendCent(gateway, value), quotaError),
    /owner is exceeded.* Retry after 2027-01-31 00:00 UTC/,
  );
  now = Date.UTC(2027, 0, 31);
  t.is((await spendCent(gateway, value)).status, 200);
  now = Date.UTC(2027, 0, 31, 23, 59, 59);
  t.regex(
    assertError(t, await spendCent(gateway, members.value), quotaError),
    /gateway is exceeded.* Retry after 2027-02-01 00:00 UTC/,
  );
  now = Date.UTC(2027, 1, 1);
  t.is((await spendCent(gateway, value)).status, 200);
  await gateway.services.recorder.flush();
  await gateway.services.budgets.refresh();
  t.is((await spendCent(gateway, members.value)).status, 200, "January does not count");
  assertError(t, await spendCent(gateway, value), quotaError);
});

test("a key's own budget and shared ones all apply, and the first one spent refuses", async (t) => {
  const gateway = await startPriced(t, {
    PERSON_BUDGET_USD_PER_MONTH_MAX: "0.02",
    GATEWAY_BUDGET_USD_PER_MONTH_MAX: "0",
    GATEWAY_BUDGET_USD_PER_DAY_MAX: "",
  });
  const { id, value } = await keyWithBudget(gateway, "demo/echo", { week: 0.01 });
  t.is((await spendCent(gateway, value)).status, 200);
  t.regex(
    assertError(t, await spendCent(gateway, value), quotaError),
    /^The budget for this API key is exceeded: \$0\.01 .*sk the administrator for a higher budget\.$/,
  );
  await gateway.admin.keys.setLimits.mutate({ id, limits: { budgetsUsd: { week: 1 } } });
  t.is((await spendCent(gateway, value)).status, 200);
  t.regex(
    assertError(t, await spendCent(gateway, value), quotaError),
    /^The budget for all API keys of this key's owner/,
  );
});

const counts = { prompt_tokens: 1_000, completion_tokens: 100 };
const usualUsd = 0.002;

type Reported = { usage?: object; service_tier?: string };

async function addReporting(t: ExecutionContext, gateway: TestGateway, reported: Reported, prices: object) {
  const added = await addModel(t, gateway, (response) => {
    const message = { role: "assistant", content: "Hi" };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ choices, ...reported, usage: { ...counts, ...reported.usage } }));
  });
  await gateway.admin.models.update.mutate({ slug: added.slug, prices });
  return added;
}

async function keyWithBudget(gateway: TestGateway, slug: string, budgetsUsd: object) {
  const criteria = { name: "Budgeted", models: [slug], limits: { budgetsUsd } };
  const { key, value } = await gateway.admin.keys.create.mutate(criteria);
  return { id: key.id, value };
}

const prices = { input: 1, output: 10 };
const unpriced: [what: string, reported: Reported, prices: object, countedUsd: number][] = [
  ["the priority tier", { service_tier: "priority" }, prices, usualUsd],
  ["a web search", { usage: { server_tool_use: { web_search_requests: 3 } } }, prices, usualUsd],
  // Budgets count audio and image tokens without a price as text tokens.
  ["audio input", { usage: { prompt_tokens_details: { audio_tokens: 400 } } }, prices, usualUsd],
  ["generated images", { usage: { completion_tokens_details: { image_tokens: 90 } } }, prices, usualUsd],
  ["output", {}, { input: 2, output: null }, usualUsd],
  ["input", {}, { input: null, output: 20 }, usualUsd],
  [
    "a price that ended",
    { service_tier: "flex" },
    { ...prices, rules: [{ when: { serviceTier: "flex" }, prices: { output: null } }] },
    usualUsd,
  ],
  [
    "one part of a long prompt",
    { service_tier: "priority" },
    { ...prices, rules: [{ when: { inputTokensAbove: 500 }, prices: { input: 2 } }] },
    0.003,
  ],
];
for (const [what, reported, list, countedUsd] of unpriced) {
  test(`a budget counts the known parts of a request without a price for ${what}`, async (t) => {
    const gateway = await startTestGateway(t);
    const { slug } = await addReporting(t, gateway, reported, list);
    const { id, value } = await keyWithBudget(gateway, slug, { day: countedUsd * 2 });
    for (let request = 0; request < 2; request++)
      t.is((await postChat(gateway, value, chatBody(slug))).status, 200);
    assertError(t, await postChat(gateway, value, chatBody(slug)), quotaError);
    const [, record] = await usageOf(gateway, id);
    t.like(record, { status: "SUCCEEDED", cost: null, markup: 0 }, "the history does not guess");
    t.is(record?.costDetails?.least, Math.round(countedUsd * 1e9));
  });
}

for (const kind of lockingKinds) {
  test(`${kind}: unpriced requests count in every process, after a restart and until priced`, async (t) => {
    const environment = { BUDGET_REFRESH_INTERVAL_MS: "50" };
    const one = await startTestGateway(t, { kind, environment });
    const echo = "demo/echo";
    const ask = (gateway: TestGateway, { value }: { value: string }) =>
      postChat(gateway, value, chatBody(echo, "one two three"));
    await one.admin.models.update.mutate({ slug: echo, prices: { input: 1, output: null } });
    const first = await keyWithBudget(one, echo, { day: 1 });
    await ask(one, first);
    const least = (await usageOf(one, first.id))[0]?.costDetails?.least ?? 0;
    t.true(least > 0);

    const key = await keyWithBudget(one, echo, { day: (least * 2) / 1e9 });
    const DATABASE_URL = one.environment["DATABASE_URL"] ?? "";
    const other = await startTestGateway(t, { environment: { ...environment, DATABASE_URL } });
    t.is((await ask(other, key)).status, 200);
    t.is((await ask(one, key)).status, 200);
    for (const each of [one, other])
      t.is(await eventually(async () => (await ask(each, key)).status === 402 && 402), 402);
    await other.close();
    await one.close();

    const again = await startTestGateway(t, { environment: one.environment });
    assertError(t, await ask(again, key), quotaError);
    const unpriced = (await allOf(again, key.id)).filter(({ cost }) => cost === null);
    await assertRollUpsMatch(DATABASE_URL);
    t.is(await countedFor(again, key.id), least * unpriced.length);

    // Recomputing with a price replaces the lower bound of earlier requests.
    await again.admin.models.update.mutate({ slug: echo, prices: { output: 3 } });
    await recomputeCosts(again.services.database, { from: new Date(0), to: new Date("2100-01-01") });
    const records = await allOf(again, key.id);
    t.true(records.every(({ cost, costDetails }) => cost !== null && costDetails === null));
    t.is(
      await countedFor(again, key.id),
      records.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    );
    await assertRollUpsMatch(DATABASE_URL);
  });
}

/** Returns all records of a key. `usageOf` returns at most 100. */
async function allOf({ services }: TestGateway, id: string) {
  await services.recorder.flush();
  return services.database.read(({ usageRecords }) => usageRecords.listByKey(id, 100_000));
}

async function countedFor({ services }: TestGateway, id: string): Promise<number> {
  await services.recorder.flush();
  const days = await services.database.read(({ usageRollUps }) =>
    usageRollUps.dailyCosts({ of: "keys", ids: [id] }),
  );
  return days.reduce((sum, { cost }) => sum + cost, 0);
}

test("unpriced requests count for the budgets of a person and of the gateway", async (t) => {
  for (const name of ["PERSON_BUDGET_USD_PER_DAY_MAX", "GATEWAY_BUDGET_USD_PER_DAY_MAX"]) {
    const gateway = await startTestGateway(t, { environment: { [name]: String(usualUsd) } });
    const { slug } = await addReporting(t, gateway, { service_tier: "priority" }, prices);
    const { id: ownerId } = await gateway.admin.auth.me.query();
    const { value } = await gateway.admin.keys.create.mutate({ name: "Owned", models: [slug], ownerId });
    t.is((await postChat(gateway, value, chatBody(slug))).status, 200);
    assertError(t, await postChat(gateway, value, chatBody(slug)), quotaError);
  }
});
