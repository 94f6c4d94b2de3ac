import test from "ava";
import { recomputeCosts } from "../../gateway/usage/history/recompute-costs.ts";
import { addModel, type Script } from "../helpers/add-model.ts";
import { askHistory } from "../helpers/ask-history.ts";
import { chatBody, postChat, postTo } from "../helpers/post-chat.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

// These tests cover reported costs and charge factors.
const shared = sharedByFile();
let gateway: TestGateway;

test.before(async () => {
  gateway = await startTestGateway(shared);
});

const reports =
  (usage: object): Script =>
  (response) => {
    const message = { role: "assistant", content: "Hi" };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: "stop" }], usage }));
  };

const counts = { prompt_tokens: 1_000, completion_tokens: 100 };
const prices = { input: 1, output: 10 };
const ours = 2_000_000;
const day = () => ({ from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) });

// The cost formats of OpenRouter, Perplexity, DeepInfra, xAI, and OpenRouter with a key of the customer, in this order.
const reported: [usage: object, cost: number][] = [
  [{ ...counts, cost: 0.00014 }, 140_000],
  [{ ...counts, cost: { input_tokens_cost: 0.001, total_cost: 0.0065 } }, 6_500_000],
  [{ ...counts, estimated_cost: 0.00002 }, 20_000],
  [{ ...counts, cost_in_usd_ticks: 37_756_000 }, 3_775_600],
  [{ ...counts, cost: 0.00005, is_byok: true, cost_details: { upstream_inference_cost: 0.001 } }, 1_050_000],
];
for (const [usage, cost] of reported) {
  test(`a provider's cost of ${cost} nano-dollars is recorded and can be the truth`, async (t) => {
    const { slug, providerId } = await addModel(t, gateway, reports(usage));
    await gateway.admin.models.update.mutate({ slug, prices });
    const { id, value } = await createKey(gateway, [slug]);
    await postChat(gateway, value, chatBody(slug));
    t.like((await usageOf(gateway, id))[0], { cost: ours, providerCost: cost, costDetails: null });

    await gateway.admin.providers.update.mutate({ id: providerId, costSource: "provider" });
    await postChat(gateway, value, chatBody(slug));
    const [record] = await usageOf(gateway, id);
    t.like(record, { cost, providerCost: cost, costDetails: { source: "provider" } });
    const sum = record?.costDetails?.lines.reduce((total, { amount }) => total + (amount ?? 0), 0);
    t.is(sum, ours, "our own figure stays beside it");

    // The first record now follows the provider's new setting.
    await recomputeCosts(gateway.services.database, { ...day(), model: slug });
    t.deepEqual(
      (await usageOf(gateway, id)).map((each) => each.cost),
      [cost, cost],
    );
    t.like(await recomputeCosts(gateway.services.database, { ...day(), model: slug }), [{ changed: 0 }]);
  });
}

test("the factors of a provider and a key multiply the charge, not the cost", async (t) => {
  const { slug, providerId } = await addModel(t, gateway, reports(counts));
  await gateway.admin.models.update.mutate({ slug, prices });
  await gateway.admin.providers.update.mutate({ id: providerId, chargeFactor: 1.2 });
  const { id, value } = await createKey(gateway, [slug]);
  t.is((await gateway.admin.keys.setChargeFactor.mutate({ id, chargeFactor: 0.5 })).chargeFactor, 0.5);
  await postChat(gateway, value, chatBody(slug));
  const [record] = await usageOf(gateway, id);
  t.like(record, { cost: ours, markup: 1_200_000 - ours, costDetails: { factor: 0.6 } });

  // Recomputing with another price keeps the recorded factor.
  await gateway.admin.providers.update.mutate({ id: providerId, chargeFactor: null });
  await gateway.admin.models.update.mutate({ slug, prices: { input: 2, output: 20 } });
  await recomputeCosts(gateway.services.database, { ...day(), model: slug });
  t.like((await usageOf(gateway, id))[0], { cost: 2 * ours, markup: -1_600_000 });

  for (const dimension of ["OWNER", "API_KEY", "MODEL", "PROVIDER"]) {
    const query = `{ usageSummary(filter: { model: "${slug}" }, groupBy: [${dimension}]) { requests costUsd chargeUsd } }`;
    const { data } = await askHistory(gateway, gateway.accessToken, query);
    t.deepEqual(data, { usageSummary: [{ requests: 1, costUsd: "0.004", chargeUsd: "0.0024" }] }, dimension);
  }
});

test("embeddings follow the same rules", async (t) => {
  const { slug } = await addModel(t, gateway, (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const usage = { prompt_tokens: 1_000, total_tokens: 1_000, cost: 0.5 };
    response.end(
      JSON.stringify({ object: "list", data: [{ object: "embedding", index: 0, embedding: [1] }], usage }),
    );
  });
  const rules = [{ when: { inputTokensAbove: 500 }, prices: { input: 0.2 } }];
  await gateway.admin.models.update.mutate({ slug, prices: { input: 0.1, rules } });
  const { id, value } = await createKey(gateway, [slug]);
  await postTo(
    gateway,
    "/v1/embeddings",
    { authorization: `Bearer ${value}` },
    { model: slug, input: "Hello" },
  );
  t.like((await usageOf(gateway, id))[0], { cost: 200_000, providerCost: 500_000_000 });
});

test("recomputing with unchanged prices changes nothing", async (t) => {
  const details = { cached_tokens: 300, audio_tokens: 20 };
  const { slug } = await addModel(t, gateway, reports({ ...counts, prompt_tokens_details: details }));
  const rules = [{ when: { inputTokensAbove: 900 }, prices: { input: 3 } }];
  await gateway.admin.models.update.mutate({ slug, prices: { ...prices, audioInput: 40, rules } });
  const { id, value } = await createKey(gateway, [slug]);
  await postChat(gateway, value, chatBody(slug));
  const before = await usageOf(gateway, id);
  t.is(before[0]?.cost, 680 * 3_000 + 300 * 3_000 + 20 * 40_000 + 100 * 10_000);
  t.like(await recomputeCosts(gateway.services.database, { ...day(), model: slug }), [
    { records: 1, changed: 0 },
  ]);
  t.deepEqual(await usageOf(gateway, id), before);
});
