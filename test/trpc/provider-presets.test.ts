import test from "ava";
import { dumpDatabase } from "../helpers/dump-database.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

const groqKey = "gsk-environment-0123456789-GROQ";
const environment = {
  GROQ_API_KEY: groqKey,
  DEEPSEEK_API_KEY: "sk-environment-0123456789-DEEP",
  XAI_API_KEY: "two words",
};

const shared = shareGateway({ environment });

test("presets fill the form with kind, address and a link to a key", async (t) => {
  const presets = await shared().admin.providers.presets.query();
  t.deepEqual(
    presets.find(({ name }) => name === "openai"),
    {
      kind: "openai-compatible",
      name: "openai",
      label: "OpenAI",
      baseUrl: "https://api.openai.com/v1",
      keyPageUrl: "https://platform.openai.com/api-keys",
      keyVariable: "OPENAI_API_KEY",
      hint: null,
      fields: { apiKey: "required", baseUrl: "optional" },
    },
  );
});

test("a preset supplies a missing address and is returned", async (t) => {
  const { providers } = shared().admin;
  const made = await providers.create.mutate({
    name: "by-preset",
    kind: "openai-compatible",
    preset: "mistral",
    apiKey: "sk-0123456789abcdef",
  });
  t.like(made, { preset: "mistral", baseUrl: "https://api.mistral.ai/v1" });
  const listed = (await providers.list.query()).find(({ id }) => id === made.id);
  t.deepEqual(listed, made);

  const moved = await providers.create.mutate({
    name: "by-preset-elsewhere",
    kind: "openai-compatible",
    preset: "mistral",
    baseUrl: "https://proxy.example.com/mistral/",
  });
  t.like(moved, { preset: "mistral", baseUrl: "https://proxy.example.com/mistral" });
  t.deepEqual(
    await providers.update.mutate({ id: made.id, baseUrl: "https://eu.example.com/v1" }),
    { ...made, baseUrl: "https://eu.example.com/v1", revision: 2 },
    "moving it does not make it another upstream",
  );
  const none = await providers.create.mutate({ name: "no-preset", kind: "demo", preset: null });
  t.is(none.preset, null);
});

test("a provider can adopt and leave a preset in place", async (t) => {
  const { providers } = shared().admin;
  const made = await providers.create.mutate({
    name: "becoming",
    kind: "openai-compatible",
    baseUrl: "https://api.mistral.ai/v1",
  });
  const { id } = made;
  for (const [index, preset] of ["mistral", "groq", null].entries()) {
    t.deepEqual(await providers.update.mutate({ id, preset }), { ...made, preset, revision: index + 2 });
  }
  const wrong = providers.update.mutate({ id, preset: "nonsense" });
  t.like(await t.throwsAsync(wrong), { data: { code: "BAD_REQUEST", param: "preset" } });
});

test("a preset of another kind or an unknown one is rejected", async (t) => {
  const { providers } = shared().admin;
  for (const [of, preset] of [
    ["openai-compatible", "nonsense"],
    ["openai-compatible", "OpenAI"],
    ["openai-compatible", ""],
    ["openai-compatible", "__proto__"],
    ["demo", "openai"],
  ] as const) {
    const creation = providers.create.mutate({ name: "wrong", kind: of, preset });
    const error = await t.throwsAsync(creation, undefined, preset);
    t.like(error, { data: { code: "BAD_REQUEST", param: "preset" } }, preset);
  }
});

test("a credential's weight can be changed without its key", async (t) => {
  const { providers } = shared().admin;
  const { id, credentials } = await providers.create.mutate({
    name: "weighted",
    kind: "openai-compatible",
    preset: "openai",
    apiKey: "sk-0123456789-first",
  });
  t.is(credentials[0]?.weight, 1);
  const two = await providers.addCredential.mutate({ id, apiKey: "sk-0123456789-other", weight: 1_000 });
  const weights = two.credentials.map(({ weight }) => weight);
  t.deepEqual(weights, [1, 1_000]);

  const credentialId = credentials[0]?.id ?? "";
  for (const weight of [7, 7]) {
    const changed = await providers.updateCredential.mutate({ id, credentialId, weight });
    t.deepEqual(changed.credentials, [{ ...two.credentials[0], weight }, two.credentials[1]]);
  }
  for (const weight of [0, -1, 1.5, 1_001]) {
    const change = providers.updateCredential.mutate({ id, credentialId, weight });
    t.like(await t.throwsAsync(change), { data: { code: "BAD_REQUEST", param: "weight" } }, String(weight));
  }
  const other = await providers.create.mutate({ name: "unweighted", kind: "demo" });
  const foreign = providers.updateCredential.mutate({ id: other.id, credentialId, weight: 2 });
  t.like(await t.throwsAsync(foreign), { data: { code: "NOT_FOUND", param: "credentialId" } });
  const nobodys = providers.updateCredential.mutate({ id: "prv_absent", credentialId, weight: 2 });
  t.like(await t.throwsAsync(nobodys), { data: { code: "NOT_FOUND", param: "id" } });
});

test.serial("keys in the environment are offered by name and imported on request", async (t) => {
  const { admin, log, environment: own } = shared();
  const offered = await admin.providers.environmentKeys.query();
  const variables = offered.map(({ variable, hasProvider }) => [variable, hasProvider]);
  t.deepEqual(variables, [
    ["DEEPSEEK_API_KEY", false],
    ["GROQ_API_KEY", false],
    ["XAI_API_KEY", false],
  ]);
  t.deepEqual(offered[1], {
    variable: "GROQ_API_KEY",
    kind: "openai-compatible",
    preset: "groq",
    label: "Groq",
    hasProvider: false,
  });
  const hasGroq = async () => (await admin.providers.list.query()).some(({ preset }) => preset === "groq");
  t.false(await hasGroq(), "nothing is imported silently");

  const refused = admin.providers.importFromEnvironment.mutate({
    variables: ["GROQ_API_KEY", "XAI_API_KEY"],
  });
  t.like(await t.throwsAsync(refused), { data: { code: "BAD_REQUEST", param: "variables.1" } });
  const absent = admin.providers.importFromEnvironment.mutate({ variables: ["OPENAI_API_KEY"] });
  t.like(await t.throwsAsync(absent), { data: { code: "NOT_FOUND", param: "variables.0" } });
  t.false(await hasGroq(), "all or none");

  const imported = await admin.providers.importFromEnvironment.mutate({
    variables: ["GROQ_API_KEY", "DEEPSEEK_API_KEY", "GROQ_API_KEY"],
  });
  t.deepEqual(
    imported.map(({ name, preset, baseUrl, credentials }) => [
      name,
      preset,
      baseUrl,
      credentials.map(({ lastFour }) => lastFour).join(),
    ]),
    [
      ["groq", "groq", "https://api.groq.com/openai/v1", "GROQ"],
      ["deepseek", "deepseek", "https://api.deepseek.com", "DEEP"],
    ],
  );
  const now = await admin.providers.environmentKeys.query();
  const flags = now.map(({ hasProvider }) => hasProvider);
  t.deepEqual(flags, [true, true, false]);

  const again = admin.providers.importFromEnvironment.mutate({ variables: ["GROQ_API_KEY"] });
  const error = await t.throwsAsync(again);
  t.like(error, { data: { code: "CONFLICT", param: "variables.0" } });
  t.regex(error?.message ?? "", /The provider groq already exists/);

  const seen = JSON.stringify([offered, imported, now, error]) + log.join("");
  t.deepEqual(findLeaks(seen + (await dumpDatabase(own["DATABASE_URL"] ?? "")), { groqKey }), []);
});

test.serial("an imported key authenticates requests", async (t) => {
  const upstream = await createUpstream(t, (_request, response) => sendCompletion(response));
  const { admin } = shared();
  const { id } = (await admin.providers.list.query()).find(({ name }) => name === "groq") ?? { id: "" };
  await admin.providers.update.mutate({ id, baseUrl: upstream.url });
  await admin.providers.test.mutate({ id });
  t.is(upstream.requests[0]?.headers.authorization, `Bearer ${groqKey}`);
});

const addProvider = (name: string, preset: string | null = "openai", baseUrl?: string) =>
  shared().admin.providers.create.mutate({ name, kind: "openai-compatible", preset, baseUrl });

test("missing facts of a model default to the known ones", async (t) => {
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

test("given facts take precedence, including null", async (t) => {
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

test("an unknown address uses its preset's facts, if any", async (t) => {
  const { models } = shared().admin;
  const proxied = await addProvider("proxied", "openai", "https://proxy.example.com/v1");
  t.is((await models.create.mutate({ slug: "proxied/gpt-4o", providerId: proxied.id })).prices.input, 2.5);
  const own = await addProvider("own", null, "https://models.example.com/v1");
  t.is((await models.create.mutate({ slug: "own/gpt-4o", providerId: own.id })).prices.input, null);
  const local = await addProvider("local", "ollama");
  t.is((await models.create.mutate({ slug: "local/gpt-oss-120b", providerId: local.id })).prices.input, null);
  t.deepEqual(await models.known.query({ providerId: local.id }), []);
});

test("a provider's known models are listed without calling it", async (t) => {
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

test("discovered models show their known facts and which are added", async (t) => {
  const data = ["gpt-4o", "b", "a", "gpt-4o", "", "x".repeat(256)].map((id) => ({ id }));
  const upstream = await createUpstream(t, (_request, response) => {
    response.end(JSON.stringify({ data }));
  });
  const { admin } = shared();
  const { id } = await addProvider("discovered", "openai", `${upstream.url}/v1`);
  await admin.models.create.mutate({ slug: "discovered/beta", providerId: id, upstreamModel: "b" });
  const { models } = await admin.providers.discoverModels.query({ id });
  const found = models.map(({ upstreamModel, slug, known }) => [upstreamModel, slug, known?.prices.input]);
  t.deepEqual(found, [
    ["a", null, undefined],
    ["b", "discovered/beta", undefined],
    ["gpt-4o", null, 2.5],
  ]);
});

test("picked models are added in one call with their known facts", async (t) => {
  const { models, providers } = shared().admin;
  const { id } = await addProvider("picked");
  const here = await models.create.mutate({ slug: "picked/mine", providerId: id, upstreamModel: "gpt-4o" });
  const added = await providers.addModels.mutate({
    id,
    models: ["gpt-5.4", "gpt-4o", "unknown", "gpt-5.4"],
  });
  const facts = added.map(({ slug, upstreamModel, prices }) => [slug, upstreamModel, prices.input]);
  t.deepEqual(facts, [
    ["picked/gpt-5.4", "gpt-5.4", 2.5],
    ["picked/mine", "gpt-4o", 2.5],
    ["picked/unknown", "unknown", null],
  ]);
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

test("a model's fallbacks are returned in order and replaced as a whole", async (t) => {
  const { models, providers } = shared().admin;
  const { id: providerId } = await providers.create.mutate({ name: "falling", kind: "demo" });
  const slugs = ["falling/b", "falling/c", "falling/a"];
  for (const slug of slugs) await models.create.mutate({ slug, providerId });
  const made = await models.create.mutate({ slug: "falling/first", providerId, fallbacks: slugs });
  t.deepEqual(made.fallbacks, slugs);
  t.deepEqual(await models.get.query({ id: made.id }), made);
  const listed = await models.list.query();
  const lists = listed.filter(({ slug }) => slug.startsWith("falling/")).map(({ fallbacks }) => fallbacks);
  t.deepEqual(lists, [[], [], [], slugs]);

  const { id } = made;
  const updated = await models.update.mutate({ id, contextWindow: 1 });
  t.deepEqual(updated.fallbacks, slugs, "not said, not changed");
  const turned = slugs.toReversed();
  t.deepEqual((await models.update.mutate({ id, fallbacks: turned })).fallbacks, turned);
  await models.delete.mutate({ slug: "falling/c" });
  t.deepEqual((await models.get.query({ id })).fallbacks, ["falling/a", "falling/b"]);
  t.deepEqual((await models.update.mutate({ id, fallbacks: [] })).fallbacks, []);
});

test("invalid fallbacks are rejected and change nothing", async (t) => {
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

for (const kind of databaseKinds) {
  test(`${kind}: models added by several people at once are added once, without errors`, async (t) => {
    const { providers } = (await startTestGateway(t, { kind })).admin;
    const { id } = await providers.create.mutate({ name: "other", kind: "demo" });
    const models = Array.from({ length: 30 }, (_, index) => `m${index}`);
    const added = await Promise.all([1, 2, 3, 4].map(() => providers.addModels.mutate({ id, models })));
    for (const each of added) t.deepEqual(each, added[0]);
  });
}
