import test, { type ExecutionContext } from "ava";
import { recomputeCosts } from "../../gateway/usage/history/recompute-costs.ts";
import { addModel } from "../helpers/add-model.ts";
import { assertError } from "../helpers/assert-error.ts";
import { assertRollUpsMatch } from "../helpers/assert-roll-ups-match.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { lockingKinds } from "../helpers/test-database.ts";
import { startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

const quotaError = { status: 402, type: "insufficient_quota", param: null, code: "insufficient_quota" };
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

async function keyWithBudget(gateway: TestGateway, slug: string, day: number) {
  const criteria = { name: "Budgeted", models: [slug], limits: { budgetsUsd: { day } } };
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
    const { id, value } = await keyWithBudget(gateway, slug, countedUsd * 2);
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
    const first = await keyWithBudget(one, echo, 1);
    await ask(one, first);
    const least = (await usageOf(one, first.id))[0]?.costDetails?.least ?? 0;
    t.true(least > 0);

    const key = await keyWithBudget(one, echo, (least * 2) / 1e9);
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
