import test, { type ExecutionContext } from "ava";
import { auditEntries } from "../helpers/audit-entries.ts";
import { Browser } from "../helpers/browser.ts";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { dumpDatabase } from "../helpers/dump-database.ts";
import { eventually } from "../helpers/eventually.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { linkToken } from "../helpers/link-token.ts";
import { type DatabaseKind, lockingKinds } from "../helpers/test-database.ts";
import { administrator, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";
import { auditActions } from "../../gateway/audit/audit-log.ts";
import { makeEntity } from "../helpers/make-entity.ts";
import { procedures, procedureTable } from "../helpers/procedure-table.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";

/** Starts a gateway whose clock never repeats a time, because entries are sorted by IDs that contain the time. */
type Options = { kind?: DatabaseKind; environment?: Record<string, string> };

async function start(t: ExecutionContext, options: Options = {}) {
  const clock = { now: Date.parse("2026-06-01T12:00:00Z") };
  const gateway = await startTestGateway(t, { ...options, runtime: { now: () => clock.now++ } });
  return { clock, gateway, audit: gateway.admin.audit, keys: gateway.admin.keys };
}

async function actionsOf({ admin }: TestGateway, query: object = {}): Promise<string[]> {
  return (await admin.audit.list.query(query)).items.map(({ action }) => action);
}

test("an entry contains the actor, action, time, target and previous state", async (t) => {
  const { clock, gateway, audit, keys } = await start(t);
  const { key } = await keys.create.mutate({ name: "Laptop", models: ["demo/echo"] });
  clock.now += 1_000;
  await keys.rename.mutate({ id: key.id, name: "Desktop" });
  clock.now += 1_000;
  await keys.setModels.mutate({ id: key.id, models: [] });

  const me = await gateway.admin.auth.me.query();
  const { items } = await audit.list.query({ entityId: key.id });
  t.like(items[1], {
    actor: { id: me.id, name: "Ada" },
    action: "key.rename",
    entity: { type: "key", id: key.id, name: "Desktop" },
    details: { from: "Laptop", to: "Desktop" },
  });
  t.regex(items[1]?.at ?? "", /^2026-06-01T12:00:01\.\d{3}Z$/);
  t.regex(items[1]?.address ?? "", /127\.0\.0\.1$/);
  t.deepEqual(items[0]?.details, {
    added: { count: 0, items: [] },
    removed: { count: 1, items: ["demo/echo"] },
  });
  t.like(items[2], { action: "key.create", entity: { name: "Laptop" } }, "under the name of the time");
  t.deepEqual(Object.keys(items[0] ?? {}).toSorted(), [
    "action",
    "actor",
    "address",
    "at",
    "details",
    "entity",
    "id",
    "label",
  ]);
});

test("an entry outlives its target", async (t) => {
  const { gateway, keys } = await start(t);
  const { key } = await keys.create.mutate({ name: "Short-lived" });
  await keys.delete.mutate({ id: key.id });
  t.deepEqual(await actionsOf(gateway, { entityId: key.id }), ["key.delete", "key.create"]);
});

test("failed sign-ins are combined, and unknown addresses are not recorded", async (t) => {
  const { gateway } = await start(t);
  const member = await addPerson(gateway, "member@example.com");
  for (let guess = 0; guess < 12; guess++) {
    const from = `127.0.4.${guess + 1}`;
    await new Browser(gateway).signIn(member.email, "wrong password", from);
    await new Browser(gateway).signIn("nobody@example.com", "wrong password", from);
  }
  // The gateway does not wait for these writes, because a delay would reveal which accounts exist.
  await eventually(async () => (await actionsOf(gateway, { action: "user.signInFailed" })).length === 2);
  const { items } = await gateway.admin.audit.list.query({ action: "user.signInFailed" });
  t.deepEqual(
    items.map(({ details, address }) => [details, address]),
    [
      [{ attempts: 10 }, "127.0.4.10"],
      [{ attempts: 1 }, "127.0.4.1"],
    ],
  );
  for (const { actor, entity } of items) {
    t.is(actor, null);
    t.deepEqual(entity, { type: "user", id: member.id, name: member.email });
  }
});

test("entries are deleted after the retention period", async (t) => {
  const { clock, gateway, keys } = await start(t, { environment: { AUDIT_RETENTION_DAYS: "30" } });
  const { id } = (await keys.create.mutate({ name: "Old" })).key;
  clock.now += 29 * 86_400_000;
  const fresh = new Browser(gateway);
  await fresh.signIn("ada@example.com", "correct horse battery");
  t.is((await fresh.call("keys.deactivate", { input: { id } })).status, 200);
  clock.now += 2 * 86_400_000;
  await fresh.refresh();
  t.is((await fresh.call("keys.activate", { input: { id } })).status, 200);
  const { data } = await fresh.call("audit.list", { type: "query" });
  t.deepEqual(
    (data as { items: { action: string }[] }).items.map(({ action }) => action),
    ["key.activate", "key.deactivate", "user.signIn"],
  );
});

test("the audit log contains no secret, and link tokens are stored nowhere", async (t) => {
  const environmentKey = "sk-environment-canary-0123456789";
  const gateway = await startTestGateway(t, { environment: { GROQ_API_KEY: environmentKey } });
  const { admin, url } = gateway;
  const providerKey = "sk-canary-of-a-provider-0123456789";
  const secondKey = "sk-canary-of-another-0123456789";
  const queryKey = "canary-in-a-query-0123456789";
  const { id } = await admin.providers.create.mutate({
    name: "canary",
    kind: "openai-compatible",
    baseUrl: `https://api.example.com/v1?key=${queryKey}`,
    apiKey: providerKey,
  });
  const two = await admin.providers.addCredential.mutate({ id, apiKey: secondKey });
  await admin.providers.removeCredential.mutate({ id, credentialId: two.credentials[1]?.id ?? "" });
  await admin.providers.update.mutate({ id, baseUrl: `https://eu.example.com/v1?key=${queryKey}` });
  await admin.providers.importFromEnvironment.mutate({ variables: ["GROQ_API_KEY"] });
  const made = await admin.keys.create.mutate({ name: "Canary" });
  const rotated = await admin.keys.rotate.mutate({ id: made.key.id });

  const invited = await admin.users.invite.mutate({ name: "Eve", email: "eve@example.com" });
  const member = await addPerson(gateway, "member@example.com");
  const newPassword = "canary of a new password";
  await member.console.auth.changePassword.mutate({ currentPassword: member.password, newPassword });
  const reset = await admin.users.resetPassword.mutate({ id: member.id });
  const wrongPassword = "canary of a wrong password";
  const wrong = { email: member.email, password: wrongPassword };
  t.is((await callProcedure({ url }, "auth.signIn", { input: wrong })).code, "UNAUTHORIZED");
  await admin.providers.delete.mutate({ id });
  await gateway.close();

  const secrets = {
    environmentKey,
    providerKey,
    secondKey,
    keyValue: made.value,
    rotatedValue: rotated.value,
    bareValue: rotated.value.slice("sk-gateway-".length),
    password: administrator.password,
    memberPassword: member.password,
    newPassword,
    wrongPassword,
    accessToken: member.accessToken,
    invitation: linkToken(invited.link),
    reset: linkToken(reset.link),
  };
  for (const [name, secret] of Object.entries(secrets)) t.true(secret.length > 10, name);
  const dump = await dumpDatabase(gateway.environment["DATABASE_URL"] ?? "");
  t.true(dump.includes("provider.importFromEnvironment") || dump.includes("provider.create"));
  t.deepEqual(findLeaks(dump + gateway.log.join("\n"), secrets), []);

  const again = await startTestGateway(t, { environment: gateway.environment });
  const told = JSON.stringify(await auditEntries(again));
  t.true(told.includes("https://eu.example.com/v1"));
  t.deepEqual(findLeaks(told, { ...secrets, queryKey }), []);
});

for (const kind of lockingKinds) {
  test(`${kind}: the log filters by actor, action, target and time, in pages`, async (t) => {
    const { clock, gateway, audit, keys } = await start(t, { kind });
    const member = await addPerson(gateway, "member@example.com");
    const { key } = await member.console.keys.create.mutate({ name: "Own" });
    for (let hour = 0; hour < 5; hour++) {
      clock.now += 60_000;
      await keys.deactivate.mutate({ id: key.id });
      await keys.activate.mutate({ id: key.id });
    }

    t.deepEqual(await actionsOf(gateway, { actorId: member.id }), ["key.create", "user.join"]);
    t.is((await actionsOf(gateway, { action: "key.activate" })).length, 5);
    t.is((await actionsOf(gateway, { entityId: key.id })).length, 11);
    const from = "2026-06-01T12:02:00Z";
    t.is((await actionsOf(gateway, { from })).length, 8);
    t.is((await actionsOf(gateway, { from, to: "2026-06-01T12:04:00Z" })).length, 4, "its end is not in it");
    t.deepEqual(await actionsOf(gateway, { action: "model.delete" }), []);

    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await audit.list.query({ entityId: key.id, cursor, limit: 4 });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    t.is(seen.length, 11);
    t.deepEqual(seen, [...new Set(seen)].toSorted().toReversed());
    t.deepEqual(await actionsOf(gateway, { cursor: "zzz", limit: 1 }), ["key.activate"]);
    t.true((await audit.actions.query()).some(({ label }) => label === "Key activated"));
  });
}

const exceptions: Record<string, string> = {
  "auth.refresh": "a page does it every ten minutes, and nothing changes but the token",
  "keys.find": "it searches and changes nothing; a mutation keeps the value out of addresses",
  "providers.test": "it asks the upstream and changes nothing",
};

/** Inputs that replace the inputs of `procedureTable`. */
const preparations: Record<string, (gateway: TestGateway, browser: Browser) => Promise<object | undefined>> =
  {
    "auth.signIn": async (_gateway, browser) => ({ email: emailOf(browser), password: passwordOf(browser) }),
    "auth.signOut": async () => undefined,
    "auth.signOutEverywhere": async () => undefined,
    "auth.changePassword": async (_gateway, browser) => ({
      currentPassword: passwordOf(browser),
      newPassword: "another password",
    }),
    "auth.join": async ({ admin }) => {
      const invitation = { name: "Joining", email: `joining${Date.now()}@example.com` };
      const { link } = await admin.users.invite.mutate(invitation);
      return { token: linkToken(link), name: "Joined", password: "long enough" };
    },
    "models.create": async ({ admin }) => {
      const { id } = await makeEntity(admin, "providers.create");
      const provider = (await admin.providers.list.query()).find((each) => each.id === id);
      return { slug: `${provider?.name}/model`, providerId: id };
    },
  };

const accounts = new WeakMap<Browser, { email: string; password: string }>();
const emailOf = (browser: Browser) => accounts.get(browser)?.email;
const passwordOf = (browser: Browser) => accounts.get(browser)?.password;

async function openBrowser(gateway: TestGateway, name: string): Promise<Browser> {
  const account = await addPerson(gateway, `${name.toLowerCase()}@example.com`, "admin");
  const browser = new Browser(gateway);
  await browser.signIn(account.email, account.password);
  accounts.set(browser, account);
  return browser;
}

const environment = { OPENAI_API_KEY: "sk-environment-0123456789" };
const mutations = procedures.filter(({ type }) => type === "mutation").map(({ path }) => path);

const shared = shareGateway({ environment });

let opened: Browser | undefined;
test.serial.before(async () => {
  opened = await openBrowser(shared(), "usual");
});
const usual = () => {
  if (opened === undefined) throw new Error("It is opened before the tests");
  return opened;
};

for (const path of mutations) {
  if (path in exceptions || path === "auth.setUp") continue;

  test.serial(`${path} writes one entry with actor and origin, none if refused`, async (t) => {
    const gateway = shared();
    const browser = path.startsWith("auth.") ? await openBrowser(gateway, `by-${path}`) : usual();
    const { input: tabled } = procedureTable[path] ?? {};
    const ids: { id?: string } = tabled && "id" in tabled ? await makeEntity(gateway.admin, path) : {};
    const prepare = preparations[path];
    const input = prepare ? await prepare(gateway, browser) : tabled && { ...tabled, ...ids };
    const before = await auditEntries(gateway);

    // A mutation without input cannot receive an invalid one, so this call omits the access token.
    const isBare = tabled === undefined;
    const refused = isBare
      ? await callProcedure(gateway, path, {})
      : await browser.call(path, { input: { nonsense: true } });
    t.is(refused.status === 200, path === "auth.signOut", refused.text);
    t.deepEqual(await auditEntries(gateway), before);

    const answer = await browser.call(path, { input, from: "127.0.0.9" });

    t.is(answer.status, 200, answer.text);
    const entries = (await auditEntries(gateway)).slice(0, -before.length);
    t.is(entries.length, 1, JSON.stringify(entries));
    const [entry] = entries;
    t.is(entry?.address, "127.0.0.9");
    t.is(entry?.actorName ?? undefined, path === "auth.join" ? "Joined" : emailOf(browser));
    t.true(
      auditActions.some((action) => action === entry?.action),
      entry?.action,
    );
    if (ids.id !== undefined) t.is(entry?.entityId, ids.id);
    t.not(entry?.entityName, "");
  });
}

test.serial("the exceptions write no entry", async (t) => {
  const gateway = shared();
  const browser = usual();
  const { id } = await makeEntity(gateway.admin, "providers.test");
  const before = await auditEntries(gateway);
  t.is((await browser.refresh()).status, 200);
  t.is((await browser.call("providers.test", { input: { id } })).status, 200);
  t.deepEqual(await auditEntries(gateway), before);
});

test.serial("the setup is the first entry", async (t) => {
  const first = (await auditEntries(shared())).at(-1);
  t.like(first, { action: "user.setUp", actorName: "Ada", entityName: "Ada", entityId: first?.actorId });
});

test.serial("a failure after the change rolls back its entry", async (t) => {
  const { admin, services } = shared();
  const { id } = await makeEntity(admin, "keys.rename");
  const before = await auditEntries(shared());
  const { name } = await admin.keys.get.query({ id });
  const failure = services.database.write(async (repositories) => {
    await repositories.apiKeys.update(id, { name: "Never" });
    const nobody = { id: null, name: null, address: "" };
    await services.audit.record(repositories, nobody, "key.rename", { id, name: "Never" });
    throw new Error("on purpose");
  });
  await t.throwsAsync(failure);
  t.is((await admin.keys.get.query({ id })).name, name);
  t.deepEqual(await auditEntries(shared()), before);
});

test("every exception is an existing mutation", (t) => {
  for (const path of Object.keys({ ...exceptions, ...preparations })) t.true(mutations.includes(path), path);
});
