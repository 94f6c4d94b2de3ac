import test, { type ExecutionContext } from "ava";
import { assertError } from "../helpers/assert-error.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { lockingKinds } from "../helpers/test-database.ts";
import { startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

const quotaError = { status: 402, type: "insufficient_quota", param: null, code: "insufficient_quota" };

/** Prices `demo/echo`, so that the same prompt always costs the same. */
async function priceEcho({ admin }: TestGateway, input: number, output: number): Promise<void> {
  const { id } = await admin.models.get.query({ slug: "demo/echo" });
  await admin.models.update.mutate({ id, prices: { input, output } });
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

for (const kind of lockingKinds) {
  test(`${kind}: a spent budget finishes requests in flight and refuses the next`, async (t) => {
    const gateway = await startTestGateway(t, { kind });
    await priceEcho(gateway, 1, 3);
    const cost = await costOfOne(t, gateway);
    const { id, value } = await keyWithBudget(gateway, { month: (cost * 3 - 1) / 1e9 });
    for (let request = 0; request < 3; request++) t.is((await ask(gateway, value)).status, 200);
    const refused = await ask(gateway, value);
    t.regex(
      assertError(t, refused, quotaError),
      /is exceeded: \$[\d.]+ per month\. Retry from \d{4}-\d\d-01 00:00 UTC, or ask /,
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

  test(`${kind}: spending of another process counts here soon`, async (t) => {
    const environment = { BUDGET_REFRESH_INTERVAL_MS: "50" };
    const one = await startTestGateway(t, { kind, environment });
    await priceEcho(one, 1, 3);
    const cost = await costOfOne(t, one);
    const { value } = await keyWithBudget(one, { day: (cost * 2) / 1e9 });
    const DATABASE_URL = one.environment["DATABASE_URL"] ?? "";
    const other = await startTestGateway(t, { environment: { ...environment, DATABASE_URL } });
    t.is((await ask(other, value)).status, 200);
    t.is((await ask(one, value)).status, 200);
    t.is(await eventually(async () => (await ask(other, value)).status === 402 && 402), 402);
    t.is(await eventually(async () => (await ask(one, value)).status === 402 && 402), 402);
  });

  test(`${kind}: a new budget counts earlier spending, shipped or not`, async (t) => {
    const gateway = await startTestGateway(t, { kind, environment: { USAGE_FLUSH_INTERVAL_MS: "100000" } });
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
}

test("a daily budget resets after midnight UTC", async (t) => {
  let now = Date.UTC(2027, 0, 31, 23, 59, 0);
  const gateway = await startTestGateway(t, { runtime: { now: () => now } });
  await priceEcho(gateway, 1, 3);
  const { value } = await keyWithBudget(gateway, { day: 1e-9 });
  t.is((await ask(gateway, value)).status, 200);
  assertError(t, await ask(gateway, value), quotaError);
  now = Date.UTC(2027, 1, 1);
  t.is((await ask(gateway, value)).status, 200);
  assertError(t, await ask(gateway, value), quotaError);
});
