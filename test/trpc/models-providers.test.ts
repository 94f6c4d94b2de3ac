import test from "ava";
import { dumpDatabase } from "../helpers/dump-database.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { databaseKinds } from "../helpers/test-database.ts";

const baseUrl = "https://api.example.com/v1";

for (const kind of databaseKinds) {
  const shared = shareGateway({ kind });

  test(`${kind}: a provider is created, listed, changed and deleted`, async (t) => {
    const { providers } = shared().admin;
    const input = { name: "crud", kind: "openai-compatible" as const, baseUrl: `${baseUrl}/` };
    const made = await providers.create.mutate({ ...input, timeouts: { idleTimeoutMs: 5_000 } });
    t.like(made, { name: "crud", kind: "openai-compatible", baseUrl, timeouts: { idleTimeoutMs: 5_000 } });
    t.deepEqual(made.credentials, []);
    const find = async (id: string) => (await providers.list.query()).find((each) => each.id === id);
    t.deepEqual(await find(made.id), made);

    const { id } = made;
    const moved = await providers.update.mutate({ id, baseUrl: "https://eu.example.com/v1" });
    t.deepEqual(moved, { ...made, baseUrl: "https://eu.example.com/v1", revision: 2 });
    t.deepEqual((await providers.update.mutate({ id, timeouts: {} })).timeouts, {});

    await providers.delete.mutate({ id });
    t.is(await find(id), undefined);
    const absent = await Promise.all([
      t.throwsAsync(providers.update.mutate({ id, timeouts: {} })),
      t.throwsAsync(providers.delete.mutate({ id })),
      t.throwsAsync(providers.test.mutate({ id })),
      t.throwsAsync(providers.discoverModels.query({ id })),
      t.throwsAsync(providers.addCredential.mutate({ id, apiKey: "secret" })),
      t.throwsAsync(providers.removeCredential.mutate({ id, credentialId: "crd_1" })),
    ]);
    for (const error of absent) t.like(error, { data: { code: "NOT_FOUND", param: "id" } });
  });

  test(`${kind}: a model is created, found by id and slug, listed, changed and deleted`, async (t) => {
    const { models, providers } = shared().admin;
    const provider = await providers.create.mutate({ name: "shop", kind: "demo" });
    const slug = "shop/family/model-1.5:free";
    const made = await models.create.mutate({ slug, providerId: provider.id, contextWindow: 128_000 });
    const { id } = made;
    t.like(made, {
      slug,
      upstreamModel: "family/model-1.5:free",
      contextWindow: 128_000,
      outputTokensMax: null,
    });
    t.deepEqual(made.prices, { input: null, cachedInput: null, cacheWrite: null, output: null });
    t.deepEqual(await models.get.query({ id }), made);
    t.deepEqual(await models.get.query({ slug }), made);
    const listed = (await models.list.query()).find((each) => each.id === id);
    t.deepEqual(listed, made);

    const changed = await models.update.mutate({ slug, upstreamModel: "model-2", contextWindow: null });
    t.deepEqual(changed, { ...made, upstreamModel: "model-2", contextWindow: null, revision: 2 });
    t.deepEqual(await models.update.mutate({ id }), { ...changed, revision: 3 }, "nothing else changed");

    await models.delete.mutate({ id });
    for (const absent of [
      models.get.query({ id }),
      models.update.mutate({ id }),
      models.delete.mutate({ id }),
    ]) {
      t.like(await t.throwsAsync(absent), { data: { code: "NOT_FOUND", param: "id" } });
    }
    t.like(await t.throwsAsync(models.get.query({ slug })), { data: { code: "NOT_FOUND", param: "slug" } });
  });

  test(`${kind}: prices are returned as given and changed one by one`, async (t) => {
    const { models, providers } = shared().admin;
    const provider = await providers.create.mutate({ name: "prices", kind: "demo" });
    const prices = { input: 0.15, cachedInput: 0.075, cacheWrite: 0, output: 1_000_000 };
    const { id } = await models.create.mutate({ slug: "prices/a", providerId: provider.id, prices });
    t.deepEqual((await models.get.query({ id })).prices, prices);

    for (const input of [0.1, 0.2, 0.3, 1e-9, 2.675, 123_456.789_012, 999_999.999_999_999]) {
      const updated = await models.update.mutate({ id, prices: { input } });
      t.deepEqual(updated.prices, { ...prices, input });
    }
    const unknown = await models.update.mutate({ id, prices: { output: null } });
    t.is(unknown.prices.output, null);
    for (const wrong of [-0.01, 1_000_001]) {
      const update = models.update.mutate({ id, prices: { input: wrong } });
      t.like(await t.throwsAsync(update), { data: { code: "BAD_REQUEST", param: "prices.input" } });
    }
  });

  test(`${kind}: names in use are a conflict`, async (t) => {
    const { models, providers } = shared().admin;
    const { id } = await providers.create.mutate({ name: "taken", kind: "demo" });
    await models.create.mutate({ slug: "taken/a", providerId: id });

    const provider = providers.create.mutate({ name: "taken", kind: "openai-compatible", baseUrl });
    t.like(await t.throwsAsync(provider), { data: { code: "CONFLICT", httpStatus: 409, param: "name" } });
    const model = models.create.mutate({ slug: "taken/a", providerId: id });
    t.like(await t.throwsAsync(model), { data: { code: "CONFLICT", param: "slug" } });
    await t.notThrowsAsync(
      models.create.mutate({ slug: "taken/A", providerId: id }),
      "case tells them apart",
    );

    const deletion = providers.delete.mutate({ id });
    t.like(await t.throwsAsync(deletion), { data: { code: "CONFLICT", param: "id" } });
    t.is((await models.get.query({ slug: "taken/a" })).providerId, id);
  });

  test(`${kind}: a model's slug starts with its provider's name`, async (t) => {
    const { models, providers } = shared().admin;
    const { id } = await providers.create.mutate({ name: "prefix", kind: "demo" });
    for (const slug of [
      "other/a",
      "prefix",
      "prefix/",
      "/a",
      "prefixa/a",
      "Prefix/a",
      "prefix/a b",
      "prefix/a\n",
    ]) {
      const creation = models.create.mutate({ slug, providerId: id });
      t.like(await t.throwsAsync(creation), { data: { code: "BAD_REQUEST", param: "slug" } }, slug);
    }
    const nobodys = models.create.mutate({ slug: "prefix/a", providerId: "prv_absent" });
    t.like(await t.throwsAsync(nobodys), { data: { code: "BAD_REQUEST", param: "providerId" } });
  });

  test(`${kind}: only a credential's last four characters are ever returned or stored`, async (t) => {
    const upstream = await createUpstream(t, (_request, response) => sendCompletion(response));
    const { admin, environment, log } = shared();
    const [first, second] = ["sk-first-0123456789-ABCD", "sk-second-0123456789-EFGH"];
    const input = { name: "secretive", kind: "openai-compatible" as const, baseUrl: `${upstream.url}/v1` };
    const made = await admin.providers.create.mutate({ ...input, apiKey: first });
    const { id } = made;
    const answers: unknown[] = [
      made,
      await admin.providers.addCredential.mutate({ id, apiKey: second }),
      await admin.providers.update.mutate({ id, timeouts: {} }),
      await admin.providers.list.query(),
      await admin.providers.test.mutate({ id }),
      await t.throwsAsync(admin.providers.create.mutate({ ...input, apiKey: second })),
      await t.throwsAsync(admin.providers.discoverModels.query({ id })),
    ];
    const { credentials } = await admin.providers.addCredential.mutate({ id, apiKey: "short" });
    const lastFours = credentials.map(({ lastFour }) => lastFour);
    t.deepEqual(lastFours, ["ABCD", "EFGH", ""]);

    const removed = await admin.providers.removeCredential.mutate({
      id,
      credentialId: credentials[0]?.id ?? "",
    });
    t.is(removed.credentials.length, 2);
    t.is(upstream.requests[0]?.headers.authorization, `Bearer ${first}`, "it is used all the same");

    const seen =
      JSON.stringify(answers) + log.join("") + (await dumpDatabase(environment["DATABASE_URL"] ?? ""));
    t.deepEqual(findLeaks(seen, { first, second }), []);
  });

  test(`${kind}: a credential of another provider cannot be removed through this one`, async (t) => {
    const { providers } = shared().admin;
    const create = (name: string) =>
      providers.create.mutate({ name, kind: "openai-compatible", baseUrl, apiKey: "sk-0123456789abcdef" });
    const [mine, other] = [await create("mine"), await create("other")];
    const removal = providers.removeCredential.mutate({
      id: mine.id,
      credentialId: other.credentials[0]?.id ?? "",
    });
    t.like(await t.throwsAsync(removal), { data: { code: "NOT_FOUND", param: "credentialId" } });
    const after = (await providers.list.query()).filter(({ name }) => name === "mine" || name === "other");
    const counts = after.map(({ credentials }) => credentials.length);
    t.deepEqual(counts, [1, 1]);
  });

  test(`${kind}: an invalid base URL is rejected on input`, async (t) => {
    const { providers } = shared().admin;
    for (const wrong of [
      undefined,
      null,
      "",
      "api.example.com",
      "ftp://example.com",
      "https://u:p@example.com/v1",
      "https://example.com/v1#x",
    ]) {
      const creation = providers.create.mutate({ name: "wrong", kind: "openai-compatible", baseUrl: wrong });
      t.like(
        await t.throwsAsync(creation),
        { data: { code: "BAD_REQUEST", param: "baseUrl" } },
        String(wrong),
      );
    }
    const demo = providers.create.mutate({ name: "wrong", kind: "demo", baseUrl });
    t.like(await t.throwsAsync(demo), { data: { code: "BAD_REQUEST", param: "baseUrl" } });
  });
}
