import test from "ava";
import { addModel } from "../helpers/add-model.ts";
import { assertError } from "../helpers/assert-error.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { keyOf, spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { sendCompletion } from "../helpers/scripted-upstream.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { createKey, startTestGateway, usageOf } from "../helpers/test-gateway.ts";

const quotaError = { status: 402, type: "insufficient_quota", param: null, code: "insufficient_quota" };

for (const kind of databaseKinds) {
  test(`${kind}: a person's keys share a budget, also after a restart`, async (t) => {
    const gateway = await startPriced(t, { PERSON_BUDGET_USD_PER_MONTH_MAX: "0.03" }, { kind });
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

  test(`${kind}: all keys share the gateway's budget, also after a restart`, async (t) => {
    const gateway = await startPriced(t, { GATEWAY_BUDGET_USD_PER_DAY_MAX: "0.03" }, { kind });
    const member = await addPerson(gateway, "grace@example.com");
    const [own, members] = [await createKey(gateway), await keyOf(gateway, member.id)];
    // Only the first start with SQLite creates a key without an owner.
    const third = gateway.services.firstKeyValue ?? own.value;
    for (const value of [own.value, members.value, third])
      t.is((await spendCent(gateway, value)).status, 200);
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

  test(`${kind}: unshipped spending counts, and parallel requests wait for it`, async (t) => {
    const gateway = await startTestGateway(t, {
      kind,
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
    const { id } = await gateway.admin.models.get.query({ slug });
    // The upstream reports five input tokens, so a request costs a cent.
    await gateway.admin.models.update.mutate({ id, prices: { input: 2_000, output: 0 } });
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
    t.regex(
      assertError(t, await send(value), quotaError),
      /of this key's owner is exceeded: \$0\.02 per day/,
    );
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

  test(`${kind}: spending of another process on a shared budget counts here soon`, async (t) => {
    for (const variable of ["PERSON_BUDGET_USD_PER_DAY_MAX", "GATEWAY_BUDGET_USD_PER_DAY_MAX"]) {
      const environment = { BUDGET_REFRESH_INTERVAL_MS: "50", [variable]: "0.03" };
      const one = await startPriced(t, environment, { kind });
      const key = await createKey(one);
      const DATABASE_URL = one.environment["DATABASE_URL"] ?? "";
      const other = await startTestGateway(t, { environment: { ...environment, DATABASE_URL } });
      t.is((await spendCent(other, key.value)).status, 200);
      t.is((await spendCent(one, key.value)).status, 200);
      for (const gateway of [other, one]) {
        t.is(await eventually(async () => (await spendCent(gateway, key.value)).status === 402 && 402), 402);
      }
    }
  });
}

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
  const { key, value } = await gateway.admin.keys.create.mutate({
    name: "Own",
    models: ["demo/echo"],
    limits: { budgetsUsd: { week: 0.01 } },
  });
  t.is((await spendCent(gateway, value)).status, 200);
  t.regex(
    assertError(t, await spendCent(gateway, value), quotaError),
    /^The budget for this API key is exceeded: \$0\.01 .*sk the administrator for a higher budget\.$/,
  );
  await gateway.admin.keys.setLimits.mutate({ id: key.id, limits: { budgetsUsd: { week: 1 } } });
  t.is((await spendCent(gateway, value)).status, 200);
  t.regex(
    assertError(t, await spendCent(gateway, value), quotaError),
    /^The budget for all API keys of this key's owner/,
  );
});
