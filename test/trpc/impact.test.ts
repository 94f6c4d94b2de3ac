import test from "ava";
import { addPerson } from "../helpers/call-procedure.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

for (const kind of databaseKinds) {
  const shared = shareGateway({ kind });

  test.serial(`${kind}: the consequences of a deletion are listed before it`, async (t) => {
    const { keys, models, providers } = shared().admin;
    const provider = await providers.create.mutate({ name: "going", kind: "demo", apiKey: "first" });
    const { id } = provider;
    t.like(await providers.impact.query({ id }), { models: [], keyCount: 0, keys: [], fallbackOf: [] });
    for (const slug of ["going/a", "going/b"]) await models.create.mutate({ slug, providerId: id });
    const { id: otherId } = await providers.create.mutate({ name: "staying", kind: "demo" });
    await models.create.mutate({ slug: "staying/c", providerId: otherId, fallbacks: ["going/b"] });
    await models.update.mutate({ slug: "going/a", fallbacks: ["going/b"] });
    const both = await keys.create.mutate({ name: "Both", models: ["going/a", "going/b"] });
    const one = await keys.create.mutate({ name: "One", models: ["going/b"] });
    await keys.deactivate.mutate({ id: one.key.id });
    await keys.create.mutate({ name: "None", models: ["staying/c"] });

    const whole = await providers.impact.query({ id });
    t.deepEqual(
      whole.models.map(({ slug, keyCount }) => [slug, keyCount]),
      [
        ["going/a", 1],
        ["going/b", 2],
      ],
    );
    t.like(whole, { keyCount: 2, activeKeyCount: 1, fallbackOf: ["staying/c"] });
    t.deepEqual(whole.keys.map(({ name, status }) => [name, status]).toSorted(), [
      ["Both", "active"],
      ["One", "disabled"],
    ]);
    const model = await models.impact.query({ slug: "going/b" });
    t.like(model, { keyCount: 2, activeKeyCount: 1, fallbackOf: ["going/a", "staying/c"] });

    const [first] = provider.credentials;
    const last = { id, credentialId: first?.id ?? "" };
    t.like(await providers.credentialImpact.query(last), { remainingCredentialCount: 0, keyCount: 2 });
    const two = await providers.addCredential.mutate({ id, apiKey: "second" });
    t.is(two.credentials.length, 2);
    const spare = await providers.credentialImpact.query(last);
    t.like(spare, { remainingCredentialCount: 1, keyCount: 0, models: [] });
    const foreign = providers.credentialImpact.query({ ...last, id: otherId });
    t.like(await t.throwsAsync(foreign), { data: { code: "NOT_FOUND", param: "credentialId" } });

    t.like(await t.throwsAsync(providers.delete.mutate({ id })), { data: { code: "CONFLICT" } });
    t.is((await postChat(shared(), both.value, chatBody("going/a"))).status, 200);
    await providers.delete.mutate({ id, withModels: true });
    t.is((await postChat(shared(), both.value, chatBody("going/a"))).status, 404);
    t.deepEqual((await keys.get.query({ id: both.key.id })).models, []);
    t.deepEqual((await models.get.query({ slug: "staying/c" })).fallbacks, []);
    const { items } = await shared().admin.audit.list.query({ entityId: id });
    t.like(items[0], {
      action: "provider.delete",
      details: { models: { count: 2, items: ["going/a", "going/b"] } },
    });
  });

  test.serial(`${kind}: a newcomer's steps disappear once done`, async (t) => {
    const gateway = await startTestGateway(t, { kind });
    const { keys, overview, providers } = gateway.admin;
    const nothing = { hasProvider: false, hasKey: false, hasRequest: false };
    t.deepEqual(await overview.onboarding.query(), nothing, "what the first start made does not count");
    const { id: modelId } = await gateway.admin.models.get.query({ slug: "demo/echo" });
    const first = await gateway.services.database.write((repositories) =>
      gateway.services.keys.createFirst(repositories, "First key", modelId),
    );
    t.is((await postChat(gateway, first, chatBody("demo/echo"))).status, 200);
    await gateway.services.recorder.flush();
    t.deepEqual(await overview.onboarding.query(), nothing, "nor does trying it");
    const baseUrl = "https://api.example.com/v1";
    await providers.create.mutate({ name: "real", kind: "openai-compatible", baseUrl });
    t.deepEqual(await overview.onboarding.query(), { ...nothing, hasProvider: true });
    const { value } = await keys.create.mutate({ name: "First", models: ["demo/echo"] });
    t.deepEqual(await overview.onboarding.query(), { ...nothing, hasProvider: true, hasKey: true });
    await postChat(gateway, value, chatBody("demo/echo"));
    await gateway.services.recorder.flush();
    t.deepEqual(await overview.onboarding.query(), { hasProvider: true, hasKey: true, hasRequest: true });

    const member = await addPerson(gateway, "member@example.com");
    const { onboarding } = member.console.overview;
    t.deepEqual(await onboarding.query(), { ...nothing, hasProvider: true }, "others' do not count");
    const own = await member.console.keys.create.mutate({ name: "Own", models: ["demo/echo"] });
    await postChat(gateway, own.value, chatBody("demo/echo"));
    await gateway.services.recorder.flush();
    t.deepEqual(await onboarding.query(), { hasProvider: true, hasKey: true, hasRequest: true });
  });

  test.serial(`${kind}: a completed step stays completed after deletions`, async (t) => {
    const gateway = await startTestGateway(t, { kind });
    const { keys, overview, providers } = gateway.admin;
    const upstream = await createUpstream(t, (_, response) => sendCompletion(response));
    const { id, value, model } = await connectUpstream(gateway, upstream, { name: "real" });
    const { providerId } = await gateway.admin.models.get.query({ slug: model });
    const member = await addPerson(gateway, "member@example.com");
    const own = await member.console.keys.create.mutate({ name: "Own", models: ["demo/echo"] });
    await postChat(gateway, own.value, chatBody("demo/echo"));
    await postChat(gateway, value, chatBody(model));
    await gateway.services.recorder.flush();
    const all = { hasProvider: true, hasKey: true, hasRequest: true };
    for (const keyId of [id, own.key.id]) await keys.delete.mutate({ id: keyId });
    t.deepEqual(await overview.onboarding.query(), all, "a request proves that there was a key");
    t.deepEqual(await member.console.overview.onboarding.query(), all);
    await providers.delete.mutate({ id: providerId, withModels: true });
    t.deepEqual(await overview.onboarding.query(), all, "and who answered it, that there was a provider");
    const newcomer = await addPerson(gateway, "newcomer@example.com");
    const none = { hasProvider: true, hasKey: false, hasRequest: false };
    t.deepEqual(await newcomer.console.overview.onboarding.query(), none, "others' do not count");
  });

  test.serial(`${kind}: a request that only the demo answered completes no step`, async (t) => {
    const gateway = await startTestGateway(t, { kind });
    const { keys, overview, providers } = gateway.admin;
    const { key, value } = await keys.create.mutate({ name: "Own", models: ["demo/echo"] });
    await postChat(gateway, value, chatBody("demo/echo"));
    await postChat(gateway, value, chatBody("nobody/nothing"));
    await gateway.services.recorder.flush();
    await keys.delete.mutate({ id: key.id });
    const [demo] = await providers.list.query();
    await providers.delete.mutate({ id: demo?.id ?? "", withModels: true });
    t.deepEqual(await overview.onboarding.query(), { hasProvider: false, hasKey: true, hasRequest: false });
  });
}
