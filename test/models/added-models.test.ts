import test from "ava";
import { describeModels } from "../../gateway/models/discovered-models.ts";
import { cpuMsSince } from "../helpers/cpu-ms-since.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

test("an upstream with too many models does not block others", async (t) => {
  const names = Array.from({ length: 30_000 }, (_, index) => `some/model-${index}`);
  const provider = {
    id: "prv_1",
    name: "many",
    kind: "openai-compatible",
    preset: "openrouter",
    baseUrl: null,
    timeouts: {},
    costSource: null,
    chargeFactor: null,
    revision: 1,
    createdAt: new Date(0),
  };
  const before = process.cpuUsage();
  const models = await describeModels(names, provider, [], Date.now());
  t.is(models.length, 5_000);
  const cpuMs = cpuMsSince(before);
  t.true(cpuMs < 5_000, `${cpuMs} ms of CPU`);
});

for (const kind of databaseKinds) {
  test(`${kind}: models added by several people at once are added once, without errors`, async (t) => {
    const { providers } = (await startTestGateway(t, { kind })).admin;
    const { id } = await providers.create.mutate({ name: "other", kind: "demo" });
    const models = Array.from({ length: 30 }, (_, index) => `m${index}`);
    const added = await Promise.all([1, 2, 3, 4].map(() => providers.addModels.mutate({ id, models })));
    for (const each of added) t.deepEqual(each, added[0]);
  });
}

for (const kind of databaseKinds) {
  test(`${kind}: models of an earlier release get the known prices if their own are known`, async (t) => {
    const gateway = await startTestGateway(t, { kind });
    const { models, providers } = gateway.admin;
    const { id: providerId } = await providers.create.mutate({
      name: "openai",
      kind: "openai-compatible",
      preset: "openai",
      apiKey: "test-secret-0123456789",
    });
    const create = (slug: string, prices?: object) =>
      models.create.mutate({ slug, providerId, upstreamModel: "gpt-5.4", ...(prices && { prices }) });
    const known = await create("openai/known");
    t.true((known.prices.rules?.length ?? 0) > 1, "a long prompt and the priority tier");
    await create("openai/discounted", { input: 1 });
    await create("openai/edited");
    const before = await models.list.query({});
    await gateway.services.database.write(async ({ models: rows }) => {
      for (const { id, slug } of before)
        await rows.update(id, {
          priceDetails: slug === "openai/edited" ? { prices: {}, rules: [] } : null,
        });
    });
    await gateway.close();

    const again = await startTestGateway(t, { environment: gateway.environment });
    for (const model of await again.admin.models.list.query({})) {
      const { input, cachedInput, cacheWrite, output } = model.prices;
      const expected = model.slug === known.slug ? known.prices : { input, cachedInput, cacheWrite, output };
      t.deepEqual(model.prices, expected, model.slug);
      t.is(model.revision, 1, "nobody edited it");
    }
  });
}
