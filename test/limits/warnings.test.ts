import { createHmac } from "node:crypto";
import test from "ava";
import { hashKeyValue } from "../../gateway/keys/authenticate-key.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { keyOf, spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { createUpstream } from "../helpers/scripted-upstream.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const secret = "a secret that is thirty-two bytes long, and more";

test("warnings at 80 % and 100 % are signed, sent once and retried", async (t) => {
  let ahead = 0;
  const statuses = [500, 302, 204, 204];
  const receiver = await createUpstream(t, (_request, response) => {
    response.writeHead(statuses.shift() ?? 204, { location: "/elsewhere" }).end();
  });
  const environment = { LIMIT_WEBHOOK_URL: `${receiver.url}/hook`, LIMIT_WEBHOOK_SECRET: secret };
  const runtime = { now: () => Date.now() + ahead };
  const gateway = await startTestGateway(t, { environment, runtime });
  await gateway.admin.models.update.mutate({ slug: "demo/echo", prices: { input: 0, output: 1_000 } });
  const { key, value } = await gateway.admin.keys.create.mutate({
    name: "Warned",
    models: ["demo/echo"],
    // Ten responses spend the budget. The probe measures the tokens of one response.
    limits: { budgetsUsd: { total: await tenAnswers() } },
  });
  async function tenAnswers(): Promise<number> {
    const probe = await gateway.admin.keys.create.mutate({ name: "Probe", models: ["demo/echo"] });
    const answer = await postChat(gateway, probe.value, chatBody("demo/echo", "word"));
    const { usage } = JSON.parse(answer.text) as { usage: { completion_tokens: number } };
    return (usage.completion_tokens * 10) / 1_000;
  }
  const ask = async () => (await postChat(gateway, value, chatBody("demo/echo", "word"))).status;

  for (let request = 0; request < 7; request++) t.is(await ask(), 200);
  const events = () => gateway.services.database.read(({ limitEvents }) => limitEvents.list(key.id, 10));
  t.deepEqual(await events(), []);
  t.is(await ask(), 200);
  await eventually(async () => (await events())[0]?.attempts === 1 && receiver.requests.length === 1);
  ahead += 31_000;
  await eventually(() => receiver.requests.length === 2);
  ahead += 121_000;
  await eventually(async () => (await events())[0]?.sendAt === null);
  t.is(receiver.requests.length, 3, "a redirect is not followed, and is no success");

  t.is(await ask(), 200);
  t.is(await ask(), 200);
  t.is(await ask(), 402);
  await eventually(async () => (await events()).length === 2 && (await events())[0]?.sendAt === null);
  const bodies = receiver.requests.map(({ body }) => JSON.parse(body));
  t.deepEqual(
    bodies.map(({ type, data }) => [type, data.percent]),
    [...Array.from({ length: 3 }, () => ["budget.warning", 80]), ["budget.spent", 100]],
  );
  const { budgetUsd, spentUsd, ...said } = bodies[3].data;
  t.deepEqual(said, {
    scope: "key",
    apiKeyId: key.id,
    apiKeyName: "Warned",
    ownerId: key.owner?.id,
    period: "total",
    periodStartsAt: null,
    percent: 100,
  });
  t.is(spentUsd, budgetUsd);
  for (const { headers, body, url } of receiver.requests) {
    t.is(url, "/hook");
    const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
    const signature = createHmac("sha256", secret).update(signed).digest("base64");
    t.is(headers["webhook-signature"], `v1,${signature}`);
  }
  t.false(gateway.log.join("").includes(secret));
});

/** Returns the shared budget warnings, oldest first: owner, percentage and period. */
async function warningsOf({ services }: TestGateway): Promise<string[]> {
  const events = await services.database.read(({ limitEvents }) => limitEvents.list("", 100));
  return events
    .toReversed()
    .map(({ ownerId, percent, period }) => `${ownerId ?? "gateway"} ${percent} ${period}`);
}

for (const kind of databaseKinds) {
  test(`${kind}: two processes warn once each at 80 % and 100 % of a shared budget`, async (t) => {
    const receiver = await createUpstream(t, (_, response) => void response.writeHead(204).end());
    const environment = {
      LIMIT_WEBHOOK_URL: `${receiver.url}/hook`,
      LIMIT_WEBHOOK_SECRET: secret,
      BUDGET_REFRESH_INTERVAL_MS: "50",
      PERSON_BUDGET_USD_PER_MONTH_MAX: "0.05",
      GATEWAY_BUDGET_USD_PER_MONTH_MAX: "0.1",
    };
    const one = await startPriced(t, environment, { kind });
    const DATABASE_URL = one.environment["DATABASE_URL"] ?? "";
    const other = await startTestGateway(t, { environment: { ...environment, DATABASE_URL } });
    const [grace, linus] = [
      await addPerson(one, "grace@example.com"),
      await addPerson(one, "linus@example.com"),
    ];
    const expected: string[] = [];
    // Requests run serially, because spending the whole budget at once would cause only the warning at 100 %.
    const spend = async (cents: number, value: string, ...warnings: string[]) => {
      for (let cent = 0; cent < cents; cent++) {
        t.is((await spendCent(cent % 2 === 0 ? one : other, value)).status, 200);
      }
      expected.push(...warnings);
      await eventually(async () => (await warningsOf(one)).length >= expected.length);
      t.deepEqual((await warningsOf(one)).toSorted(), expected.toSorted());
    };
    const { value: graces } = await keyOf(one, grace.id);
    await spend(3, graces);
    await spend(1, graces, `${grace.id} 80 month`);
    await spend(1, graces, `${grace.id} 100 month`);
    const { value: linuses } = await keyOf(one, linus.id);
    await spend(3, linuses, "gateway 80 month");
    await spend(1, linuses, `${linus.id} 80 month`);
    await spend(1, linuses, `${linus.id} 100 month`, "gateway 100 month");

    await eventually(() => receiver.requests.length === 6);
    const bodies = receiver.requests.map(({ body }) => JSON.parse(body));
    const now = new Date();
    const periodStartsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)).toISOString();
    const told = (scope: string, ownerId: string | null, percent: number) =>
      bodies.find(({ data }) => data.scope === scope && data.ownerId === ownerId && data.percent === percent);
    t.deepEqual(told("person", grace.id, 80)?.data, {
      scope: "person",
      apiKeyId: null,
      apiKeyName: null,
      ownerId: grace.id,
      period: "month",
      periodStartsAt,
      percent: 80,
      budgetUsd: 0.05,
      spentUsd: 0.04,
    });
    t.is(told("person", grace.id, 80)?.type, "budget.warning");
    t.deepEqual(told("gateway", null, 100)?.data, {
      scope: "gateway",
      apiKeyId: null,
      apiKeyName: null,
      ownerId: null,
      period: "month",
      periodStartsAt,
      percent: 100,
      budgetUsd: 0.1,
      spentUsd: 0.1,
    });
    t.is(told("gateway", null, 100)?.type, "budget.spent");
    t.truthy(told("person", linus.id, 100));

    // A process that starts after the spending repeats the warnings, which must not be sent again.
    const late = await startTestGateway(t, { environment: { ...environment, DATABASE_URL } });
    t.is((await spendCent(late, linuses)).status, 402);
    await eventually(() =>
      late.log.some((line) => line.includes("the gateway has spent part of its budget")),
    );
    await Promise.all([late.close(), other.close()]);
    t.deepEqual((await warningsOf(one)).toSorted(), expected.toSorted());
    await one.close();
    t.is(receiver.requests.length, 6);
  });
}

test("joint spending of several processes triggers warnings while idle", async (t) => {
  const environment = { BUDGET_REFRESH_INTERVAL_MS: "50", GATEWAY_BUDGET_USD_PER_DAY_MAX: "0.02" };
  const one = await startPriced(t, environment);
  const DATABASE_URL = one.environment["DATABASE_URL"] ?? "";
  const other = await startTestGateway(t, { environment: { ...environment, DATABASE_URL } });
  const { key, value } = await one.admin.keys.create.mutate({
    name: "Own",
    models: ["demo/echo"],
    limits: { budgetsUsd: { month: 0.02 } },
  });
  // Both gateways cache the key and its spending in advance.
  for (const each of [one, other]) t.is((await each.services.keyCache.find(hashKeyValue(value)))?.id, key.id);
  t.is((await spendCent(other, value)).status, 200);
  t.deepEqual(await warningsOf(one), []);
  await other.services.recorder.flush();
  t.is((await spendCent(one, value)).status, 200);
  await eventually(async () => (await warningsOf(one)).join() === "gateway 100 day");
  await eventually(async () => {
    const { warnings } = await one.admin.keys.usage.query({ id: key.id });
    return warnings.some(({ percent }) => percent === 100);
  });
});

test("a budget that resets is warned about again", async (t) => {
  let now = Date.UTC(2027, 0, 30, 12);
  const environment = { PERSON_BUDGET_USD_PER_DAY_MAX: "0.01", GATEWAY_BUDGET_USD_PER_MONTH_MAX: "0.02" };
  const gateway = await startPriced(t, environment, { runtime: { now: () => now } });
  const { id: ownerId } = await gateway.admin.auth.me.query();
  const { value } = await createKey(gateway);
  t.is((await spendCent(gateway, value)).status, 200);
  await eventually(async () => (await warningsOf(gateway)).join() === `${ownerId} 100 day`);
  now += 86_400_000;
  t.is((await spendCent(gateway, value)).status, 200);
  await eventually(async () => (await warningsOf(gateway)).length === 3);
  t.deepEqual((await warningsOf(gateway)).toSorted(), [
    "gateway 100 month",
    `${ownerId} 100 day`,
    `${ownerId} 100 day`,
  ]);
});
