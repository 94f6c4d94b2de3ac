import test from "ava";
import { addModel, answersWith } from "../helpers/add-model.ts";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { chatBody, postChat, postTo } from "../helpers/post-chat.ts";
import { sendCompletion } from "../helpers/scripted-upstream.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const outside = "demo/outside";

async function addOutside({ admin }: TestGateway) {
  const demo = (await admin.providers.list.query()).find(({ name }) => name === "demo");
  await admin.models.create.mutate({ slug: outside, providerId: demo?.id ?? "", upstreamModel: "echo" });
}

async function listed({ url }: TestGateway, value: string): Promise<string[]> {
  const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${value}` } });
  const { data } = (await response.json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

for (const kind of databaseKinds) {
  test(`${kind}: a key calls and lists what its payer may use, from the next request`, async (t) => {
    const gateway = await startTestGateway(t, { kind });
    const { admin } = gateway;
    await addOutside(gateway);
    const grace = await addPerson(gateway, "grace@example.com");
    const { id: teamId } = await admin.teams.create.mutate({ name: "Search" });
    const models = ["demo/echo", outside];
    const create = async (holders: object) =>
      (await admin.keys.create.mutate({ name: "A key", models, ...holders })).value;
    const values = {
      personal: await create({ ownerId: grace.id }),
      team: await create({ ownerId: grace.id, teamId }),
      service: await create({ ownerId: null, teamId }),
    };
    const others = await createKey(gateway, models);
    const check = async (expected: Record<keyof typeof values, string[]>, what: string) => {
      for (const [name, value] of Object.entries(values)) {
        const usable = expected[name as keyof typeof values];
        t.deepEqual(await listed(gateway, value), usable.toSorted(), `${what}: ${name}`);
        for (const model of models) {
          const { status } = await postChat(gateway, value, chatBody(model));
          t.is(status, usable.includes(model) ? 200 : 404, `${what}: ${name} ${model}`);
        }
      }
      t.deepEqual(await listed(gateway, others.value), models.toSorted());
    };
    const [all, one, none] = [models, ["demo/echo"], [] as string[]];

    await check({ personal: all, team: all, service: all }, "nothing is set");
    await admin.teams.setModels.mutate({ id: teamId, access: "listed", models: one });
    await check({ personal: all, team: one, service: one }, "a team's list");
    await admin.limits.set.mutate({ holder: grace.id, modelAccess: "listed", models: [] });
    await check({ personal: none, team: one, service: one }, "a person's list");
    await admin.teams.setModels.mutate({ id: teamId, access: "all" });
    await check({ personal: none, team: all, service: all }, "all models of a team");
    await admin.limits.set.mutate({ holder: grace.id, modelAccess: null });
    await admin.limits.set.mutate({ holder: "people", modelAccess: "listed", models: one });
    await admin.limits.set.mutate({ holder: (await admin.auth.me.query()).id, modelAccess: "all" });
    await check({ personal: one, team: all, service: all }, "the list of each person");
  });
}

test("a model outside the fence is refused at write, and stays connected where it was", async (t) => {
  const gateway = await startTestGateway(t);
  const { admin } = gateway;
  await addOutside(gateway);
  const { id: teamId } = await admin.teams.create.mutate({ name: "Search" });
  const made = { name: "A key", ownerId: null, teamId };
  const { key } = await admin.keys.create.mutate({ ...made, models: [outside] });
  await admin.teams.setModels.mutate({ id: teamId, access: "listed", models: ["demo/echo"] });
  const refused = { data: { code: "BAD_REQUEST", param: "models" } };
  const creating = await t.throwsAsync(admin.keys.create.mutate({ ...made, models: [outside] }));
  t.like(creating, refused);
  t.regex(creating?.message ?? "", /may not use demo\/outside\./);
  const both = await admin.keys.setModels.mutate({ id: key.id, models: [outside, "demo/echo"] });
  t.deepEqual(both.models, ["demo/echo", outside]);
  await admin.keys.setModels.mutate({ id: key.id, models: ["demo/echo"] });
  t.like(await t.throwsAsync(admin.keys.setModels.mutate({ id: key.id, models: [outside] })), refused);
});

test("fallbacks outside the fence are skipped", async (t) => {
  const gateway = await startTestGateway(t);
  const { admin } = gateway;
  const dear = await addModel(t, gateway, (response) => sendCompletion(response));
  const { slug } = await addModel(t, gateway, answersWith(503), [dear.slug]);
  const { id: teamId } = await admin.teams.create.mutate({ name: "Search" });
  const made = { name: "A key", ownerId: null, teamId, models: [slug] };
  const { value } = await admin.keys.create.mutate(made);
  t.is((await postChat(gateway, value, chatBody(slug))).status, 200);
  await admin.teams.setModels.mutate({ id: teamId, access: "listed", models: [slug] });
  t.is((await postChat(gateway, value, chatBody(slug))).status, 502);
  t.is(dear.upstream.requests.length, 1);
  const messages = { model: slug, max_tokens: 5, messages: [{ role: "user", content: "Hello" }] };
  const headers = { authorization: `Bearer ${value}` };
  t.is((await postTo(gateway, "/v1/messages", headers, JSON.stringify(messages))).status, 502);
  await admin.teams.setModels.mutate({ id: teamId, access: "listed", models: [slug, dear.slug] });
  t.is((await postChat(gateway, value, chatBody(slug))).status, 200);
});

test("only people and teams have a list of models", async (t) => {
  const gateway = await startTestGateway(t);
  for (const holder of ["gateway", "keys"]) {
    const input = { holder, modelAccess: "listed", models: ["demo/echo"] };
    const { accessToken } = gateway;
    const answer = await callProcedure(gateway, "limits.set", { input, accessToken });
    t.like(answer.error?.data, { code: "BAD_REQUEST", param: "modelAccess" });
  }
  const unknown = gateway.admin.limits.set.mutate({ holder: "people", models: ["demo/absent"] });
  t.like(await t.throwsAsync(unknown), { data: { code: "BAD_REQUEST", param: "models" } });
});

test("members own as many keys as they may, and administrators any number", async (t) => {
  const gateway = await startTestGateway(t);
  const { admin } = gateway;
  const grace = await addPerson(gateway, "grace@example.com");
  const create = () => grace.console.keys.create.mutate({ name: "A key" });
  await admin.limits.set.mutate({ holder: "people", keysMax: 2 });
  const created = await Promise.allSettled([create(), create(), create(), create()]);
  t.is(created.filter(({ status }) => status === "fulfilled").length, 2);
  t.regex((await t.throwsAsync(create()))?.message ?? "", /^A member may own at most 2 API keys\./);
  await admin.limits.set.mutate({ holder: grace.id, keysMax: 3 });
  await create();
  await admin.limits.set.mutate({ holder: grace.id, keysMax: 0 });
  t.regex((await t.throwsAsync(create()))?.message ?? "", /^Members may not create keys\./);
  for (let count = 0; count < 3; count++) await admin.keys.create.mutate({ name: "A key" });
  await admin.keys.create.mutate({ name: "For Grace", ownerId: grace.id });
  await admin.limits.set.mutate({ holder: grace.id, keysMax: null });
  await admin.limits.set.mutate({ holder: "people", keysMax: null });
  await create();
  for (const holder of ["gateway", "keys"]) {
    const setting = admin.limits.set.mutate({ holder, keysMax: 1 });
    t.like(await t.throwsAsync(setting), { data: { code: "BAD_REQUEST", param: "keysMax" } });
  }
});
