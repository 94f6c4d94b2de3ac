import test from "ava";
import { databaseKinds } from "../helpers/test-database.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

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
