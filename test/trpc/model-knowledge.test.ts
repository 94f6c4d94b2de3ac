import test from "ava";
import { createUpstream } from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

for (const kind of databaseKinds) {
  const shared = shareGateway({ kind });
  const addProvider = (name: string, preset: string | null = "openai", baseUrl?: string) =>
    shared().admin.providers.create.mutate({ name, kind: "openai-compatible", preset, baseUrl });

  test(`${kind}: missing facts of a model default to the known ones`, async (t) => {
    const { models } = shared().admin;
    const { id: providerId } = await addProvider("known");
    const made = await models.create.mutate({ slug: "known/gpt-4o", providerId });
    t.like(made, {
      upstreamModel: "gpt-4o",
      contextWindow: 128_000,
      outputTokensMax: 16_384,
      prices: { input: 2.5, cachedInput: 1.25, cacheWrite: null, output: 10 },
    });
    t.deepEqual(await models.get.query({ slug: "known/gpt-4o" }), made);

    const renamed = await models.create.mutate({
      slug: "known/fast",
      providerId,
      upstreamModel: "gpt-4o-mini-2024-07-18",
    });
    t.like(renamed, { upstreamModel: "gpt-4o-mini-2024-07-18", prices: { input: 0.15, output: 0.6 } });
    const unknown = await models.create.mutate({ slug: "known/nobody-knows", providerId });
    t.like(unknown, { contextWindow: null, outputTokensMax: null });
    t.deepEqual(Object.values(unknown.prices), [null, null, null, null]);
  });

  test(`${kind}: given facts take precedence, including null`, async (t) => {
    const { models } = shared().admin;
    const { id: providerId } = await addProvider("said");
    const made = await models.create.mutate({
      slug: "said/gpt-4o",
      providerId,
      contextWindow: null,
      outputTokensMax: 1_000,
      prices: { input: 2, cachedInput: null },
    });
    t.like(made, {
      contextWindow: null,
      outputTokensMax: 1_000,
      prices: { input: 2, cachedInput: null, cacheWrite: null, output: 10 },
    });
    const changed = await models.update.mutate({
      id: made.id,
      upstreamModel: "gpt-5.4",
      prices: { output: 0 },
    });
    const prices = { ...made.prices, output: 0 };
    t.deepEqual(changed, { ...made, upstreamModel: "gpt-5.4", prices, revision: 2 });
  });

  test(`${kind}: an unknown address uses its preset's facts, if any`, async (t) => {
    const { models } = shared().admin;
    const proxied = await addProvider("proxied", "openai", "https://proxy.example.com/v1");
    t.is((await models.create.mutate({ slug: "proxied/gpt-4o", providerId: proxied.id })).prices.input, 2.5);
    const own = await addProvider("own", null, "https://models.example.com/v1");
    t.is((await models.create.mutate({ slug: "own/gpt-4o", providerId: own.id })).prices.input, null);
    const local = await addProvider("local", "ollama");
    t.is(
      (await models.create.mutate({ slug: "local/gpt-oss-120b", providerId: local.id })).prices.input,
      null,
    );
    t.deepEqual(await models.known.query({ providerId: local.id }), []);
  });

  test(`${kind}: a provider's known models are listed without calling it`, async (t) => {
    const { models, providers } = shared().admin;
    const { id: providerId } = await addProvider("listed", "deepseek");
    const known = await models.known.query({ providerId });
    t.true(known.some(({ upstreamModel }) => upstreamModel === "deepseek-v4-pro"));
    for (const { prices } of known) t.is(typeof prices.input, "number");
    const [demo] = (await providers.list.query()).filter((provider) => provider.kind === "demo");
    t.deepEqual(await models.known.query({ providerId: demo?.id ?? "" }), []);
    const absent = models.known.query({ providerId: "prv_absent" });
    t.like(await t.throwsAsync(absent), { data: { code: "BAD_REQUEST", param: "providerId" } });
  });

  test(`${kind}: discovered models show their known facts and which are added`, async (t) => {
    const data = ["gpt-4o", "b", "a", "gpt-4o", "", "x".repeat(256)].map((id) => ({ id }));
    const upstream = await createUpstream(t, (_request, response) => {
      response.end(JSON.stringify({ data }));
    });
    const { admin } = shared();
    const { id } = await addProvider("discovered", "openai", `${upstream.url}/v1`);
    await admin.models.create.mutate({ slug: "discovered/beta", providerId: id, upstreamModel: "b" });
    const { models } = await admin.providers.discoverModels.query({ id });
    t.deepEqual(
      models.map(({ upstreamModel, slug, known }) => [upstreamModel, slug, known?.prices.input]),
      [
        ["a", null, undefined],
        ["b", "discovered/beta", undefined],
        ["gpt-4o", null, 2.5],
      ],
    );
  });

  test(`${kind}: picked models are added in one call with their known facts`, async (t) => {
    const { models, providers } = shared().admin;
    const { id } = await addProvider("picked");
    const here = await models.create.mutate({ slug: "picked/mine", providerId: id, upstreamModel: "gpt-4o" });
    const added = await providers.addModels.mutate({
      id,
      models: ["gpt-5.4", "gpt-4o", "unknown", "gpt-5.4"],
    });
    t.deepEqual(
      added.map(({ slug, upstreamModel, prices }) => [slug, upstreamModel, prices.input]),
      [
        ["picked/gpt-5.4", "gpt-5.4", 2.5],
        ["picked/mine", "gpt-4o", 2.5],
        ["picked/unknown", "unknown", null],
      ],
    );
    t.deepEqual(added[1], here, "it stays as it is");
    t.deepEqual(await models.get.query({ slug: "picked/gpt-5.4" }), added[0]);
    t.deepEqual(await providers.addModels.mutate({ id, models: [] }), []);

    await models.create.mutate({ slug: "picked/o3", providerId: id, upstreamModel: "gpt-4o-mini" });
    const taken = providers.addModels.mutate({ id, models: ["gpt-4.1", "o3"] });
    t.like(await t.throwsAsync(taken), { data: { code: "CONFLICT", param: "models.1" } });
    const spaced = providers.addModels.mutate({ id, models: ["gpt-4.1", "a b"] });
    t.like(await t.throwsAsync(spaced), { data: { code: "BAD_REQUEST", param: "models.1" } });
    const absent = await t.throwsAsync(models.get.query({ slug: "picked/gpt-4.1" }));
    t.like(absent, { data: { code: "NOT_FOUND" } }, "all or none");
    const nobodys = providers.addModels.mutate({ id: "prv_absent", models: ["o3"] });
    t.like(await t.throwsAsync(nobodys), { data: { code: "NOT_FOUND", param: "id" } });
  });

  test(`${kind}: a model's fallbacks are returned in order and replaced as a whole`, async (t) => {
    const { models, providers } = shared().admin;
    const { id: providerId } = await providers.create.mutate({ name: "falling", kind: "demo" });
    const slugs = ["falling/b", "falling/c", "falling/a"];
    for (const slug of slugs) await models.create.mutate({ slug, providerId });
    const made = await models.create.mutate({ slug: "falling/first", providerId, fallbacks: slugs });
    t.deepEqual(made.fallbacks, slugs);
    t.deepEqual(await models.get.query({ id: made.id }), made);
    const listed = await models.list.query();
    t.deepEqual(
      listed.filter(({ slug }) => slug.startsWith("falling/")).map(({ fallbacks }) => fallbacks),
      [[], [], [], slugs],
    );

    const { id } = made;
    t.deepEqual(
      (await models.update.mutate({ id, contextWindow: 1 })).fallbacks,
      slugs,
      "not said, not changed",
    );
    const turned = slugs.toReversed();
    t.deepEqual((await models.update.mutate({ id, fallbacks: turned })).fallbacks, turned);
    await models.delete.mutate({ slug: "falling/c" });
    t.deepEqual((await models.get.query({ id })).fallbacks, ["falling/a", "falling/b"]);
    t.deepEqual((await models.update.mutate({ id, fallbacks: [] })).fallbacks, []);
  });

  test(`${kind}: invalid fallbacks are rejected and change nothing`, async (t) => {
    const { models, providers } = shared().admin;
    const { id: providerId } = await providers.create.mutate({ name: "unfit", kind: "demo" });
    const many = ["a", "b", "c", "d", "e", "f"].map((name) => `unfit/${name}`);
    for (const slug of many) await models.create.mutate({ slug, providerId });
    const { id } = await models.create.mutate({ slug: "unfit/x", providerId, fallbacks: ["unfit/a"] });
    for (const [fallbacks, param] of [
      [["unfit/b", "unfit/x"], "fallbacks.1"],
      [["unfit/absent"], "fallbacks.0"],
      [["unfit/a", "unfit/a"], "fallbacks"],
      [many, "fallbacks"],
      [[""], "fallbacks.0"],
    ] as const) {
      const update = models.update.mutate({ id, contextWindow: 5, fallbacks: [...fallbacks] });
      t.like(await t.throwsAsync(update), { data: { code: "BAD_REQUEST", param } }, fallbacks.join());
    }
    t.like(await models.get.query({ id }), { fallbacks: ["unfit/a"], contextWindow: null });

    const own = models.create.mutate({ slug: "unfit/y", providerId, fallbacks: ["unfit/y"] });
    t.like(await t.throwsAsync(own), { data: { code: "BAD_REQUEST", param: "fallbacks.0" } });
    t.like(await t.throwsAsync(models.get.query({ slug: "unfit/y" })), { data: { code: "NOT_FOUND" } });
  });
}

for (const kind of databaseKinds) {
  test(`${kind}: models added by several people at once are added once, without errors`, async (t) => {
    const { providers } = (await startTestGateway(t, { kind })).admin;
    const { id } = await providers.create.mutate({ name: "other", kind: "demo" });
    const models = Array.from({ length: 30 }, (_, index) => `m${index}`);
    const added = await Promise.all([1, 2, 3, 4].map(() => providers.addModels.mutate({ id, models })));
    for (const each of added) t.deepEqual(each, added[0]);
  });
}
