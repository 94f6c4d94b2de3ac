import test from "ava";
import { addPerson } from "../helpers/call-procedure.ts";
import { keyOf, spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";

const now = Date.UTC(2027, 0, 30, 12);
const tomorrow = "2027-01-31T00:00:00.000Z";
const nextMonth = "2027-02-01T00:00:00.000Z";

test("people see spending of their budgets, administrators the gateway's", async (t) => {
  const environment = {
    PERSON_BUDGET_USD_PER_DAY_MAX: "0.02",
    PERSON_BUDGET_USD_PER_MONTH_MAX: "0.03",
    GATEWAY_BUDGET_USD_PER_MONTH_MAX: "1",
    // The interval is so long that only reads refresh the spending.
    BUDGET_REFRESH_INTERVAL_MS: "100000",
  };
  const runtime = { now: () => now };
  const gateway = await startPriced(t, environment, { runtime });
  const DATABASE_URL = gateway.environment["DATABASE_URL"] ?? "";
  const other = await startTestGateway(t, { environment: { ...environment, DATABASE_URL }, runtime });
  const grace = await addPerson(gateway, "grace@example.com");
  const linus = await addPerson(gateway, "linus@example.com");
  const [first, second] = [await keyOf(gateway, grace.id), await keyOf(gateway, grace.id)];
  const own = await createKey(gateway);

  const day = { period: "day", budgetUsd: 0.02, spentUsd: 0, spentPercent: 0, endsAt: tomorrow };
  const month = { period: "month", budgetUsd: 0.03, spentUsd: 0, spentPercent: 0, endsAt: nextMonth };
  t.deepEqual(await grace.console.overview.budgets.query(), { person: [day, month], team: [], gateway: [] });

  t.is((await spendCent(gateway, first.value)).status, 200);
  t.is((await spendCent(other, second.value)).status, 200);
  t.is((await spendCent(gateway, own.value)).status, 200);
  await other.services.recorder.flush();
  await gateway.admin.keys.delete.mutate({ id: first.id });
  t.deepEqual(await grace.console.overview.budgets.query(), {
    person: [
      { ...day, spentUsd: 0.02, spentPercent: 100 },
      { ...month, spentUsd: 0.02, spentPercent: 66 },
    ],
    team: [],
    gateway: [],
  });
  t.deepEqual((await linus.console.overview.budgets.query()).person, [day, month]);
  t.deepEqual(await gateway.admin.overview.budgets.query(), {
    person: [
      { ...day, spentUsd: 0.01, spentPercent: 50 },
      { ...month, spentUsd: 0.01, spentPercent: 33 },
    ],
    team: [],
    gateway: [{ ...month, budgetUsd: 1, spentUsd: 0.03, spentPercent: 3 }],
  });
});

const dayMs = 86_400_000;

test("keys that expire, spend their budget or were never used are found, own ones only", async (t) => {
  const now = Date.now();
  const gateway = await startPriced(t, {});
  const { id, console: member } = await addPerson(gateway, "grace@example.com");
  const { value } = await keyOf(gateway, id);
  const create = async (name: string, inDays: number | null, more = {}) => {
    const expiresAt = inDays === null ? null : new Date(now + inDays * dayMs).toISOString();
    return (await gateway.admin.keys.create.mutate({ name, models: [], expiresAt, ...more })).key;
  };
  await create("In a month", 30);
  const soon = await create("In a week", 6.9);
  const sooner = await create("Tomorrow", 1);
  const off = await create("Switched off", 1);
  await gateway.admin.keys.deactivate.mutate({ id: off.id });
  t.is((await spendCent(gateway, value)).status, 200);
  const spent = (await member.keys.list.query({})).items[0]?.id ?? "";
  await gateway.admin.keys.setLimits.mutate({ id: spent, limits: { budgetsUsd: { day: 0.01 } } });
  await gateway.services.recorder.flush();
  // An unflushed `lastUsedAt` could change the result between two of the queries below.
  await gateway.services.lastUsed.flush();

  const all = await gateway.admin.overview.keys.query();
  const expiring = all.expiring.keys.map((key) => key.id);
  t.deepEqual(expiring, [sooner.id, soon.id]);
  t.is(all.expiring.count, 2);
  const budgets = all.budgets.keys.map((key) => [key.id, key.spentPercent]);
  t.deepEqual(budgets, [[spent, 100]]);
  t.true(all.unused.keys.some(({ name }) => name === "In a month"));
  t.false(all.unused.keys.some((key) => key.id === off.id));
  for (const attention of ["expiring", "unused"] as const) {
    const { items } = await gateway.admin.keys.list.query({ attention, status: "active" });
    t.is(items.length, all[attention].count, attention);
    t.is((await gateway.admin.keys.counts.query({ attention })).active, all[attention].count);
  }

  const own = await member.overview.keys.query();
  t.is(own.expiring.count, 0);
  t.is(own.budgets.count, 1);
  t.is(own.unused.keys.filter(({ name }) => name === "Tomorrow").length, 0);
});

test("a key shows its owner's spending, and to administrators the gateway's", async (t) => {
  const environment = {
    PERSON_BUDGET_USD_PER_DAY_MAX: "0.02",
    GATEWAY_BUDGET_USD_PER_MONTH_MAX: "0.03",
    // The interval is so long that only reads refresh the spending.
    BUDGET_REFRESH_INTERVAL_MS: "100000",
  };
  const gateway = await startPriced(t, environment, { runtime: { now: () => now } });
  const grace = await addPerson(gateway, "grace@example.com");
  const linus = await addPerson(gateway, "linus@example.com");
  const [first, second] = [await keyOf(gateway, grace.id), await keyOf(gateway, grace.id)];
  const others = await keyOf(gateway, linus.id);
  const seenBy = async ({ keys }: typeof gateway.admin, { id }: { id: string }) =>
    (await keys.usage.query({ id })).sharedBudgets;

  const day = { period: "day", budgetUsd: 0.02, spentUsd: 0.02, spentPercent: 100, endsAt: tomorrow };
  const month = { period: "month", budgetUsd: 0.03, spentUsd: 0.02, spentPercent: 66, endsAt: nextMonth };
  t.is((await spendCent(gateway, first.value)).status, 200);
  t.is((await spendCent(gateway, second.value)).status, 200);
  t.deepEqual(await seenBy(grace.console, first), {
    person: [day],
    team: [],
    gateway: [],
    isGatewaySpent: false,
  });
  t.deepEqual(await seenBy(gateway.admin, first), {
    person: [day],
    team: [],
    gateway: [month],
    isGatewaySpent: false,
  });

  t.is((await spendCent(gateway, others.value)).status, 200);
  const half = { ...day, spentUsd: 0.01, spentPercent: 50 };
  t.deepEqual(await seenBy(linus.console, others), {
    person: [half],
    team: [],
    gateway: [],
    isGatewaySpent: true,
  });
  t.deepEqual(await seenBy(gateway.admin, others), {
    person: [half],
    team: [],
    gateway: [{ ...month, spentUsd: 0.03, spentPercent: 100 }],
    isGatewaySpent: true,
  });
  await t.throwsAsync(seenBy(linus.console, first), { message: /No API key has this ID/ });
});

test("without budgets in the environment no shared spending is shown", async (t) => {
  const gateway = await startPriced(t, {});
  const grace = await addPerson(gateway, "grace@example.com");
  const { id, value } = await keyOf(gateway, grace.id);
  t.is((await spendCent(gateway, value)).status, 200);
  const { sharedBudgets } = await grace.console.keys.usage.query({ id });
  t.deepEqual(sharedBudgets, { person: [], team: [], gateway: [], isGatewaySpent: false });
  t.deepEqual(await gateway.admin.overview.budgets.query(), { person: [], team: [], gateway: [] });
});

test("the console receives the configured public URL and the version", async (t) => {
  const plain = await startTestGateway(t);
  const { publicUrl, version } = await plain.admin.gateway.info.query();
  t.is(publicUrl, null);
  t.regex(version, /^\d+\.\d+\.\d+/);

  const configured = await startTestGateway(t, { environment: { PUBLIC_URL: "https://ai.example.com/" } });
  t.is((await configured.admin.gateway.info.query()).publicUrl, "https://ai.example.com");
});

const shared = shareGateway();

test.serial("the consequences of a deletion are listed before it", async (t) => {
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
  const counts = whole.models.map(({ slug, keyCount }) => [slug, keyCount]);
  t.deepEqual(counts, [
    ["going/a", 1],
    ["going/b", 2],
  ]);
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

test.serial("a newcomer's steps disappear once done", async (t) => {
  const gateway = await startTestGateway(t);
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

test.serial("a completed step stays completed after deletions", async (t) => {
  const gateway = await startTestGateway(t);
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

test.serial("a request that only the demo answered completes no step", async (t) => {
  const gateway = await startTestGateway(t);
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
