import test from "ava";
import { auditActions } from "../../gateway/audit/audit-log.ts";
import { auditEntries } from "../helpers/audit-entries.ts";
import { Browser } from "../helpers/browser.ts";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { linkToken } from "../helpers/link-token.ts";
import { makeEntity } from "../helpers/make-entity.ts";
import { procedures, procedureTable } from "../helpers/procedure-table.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import type { TestGateway } from "../helpers/test-gateway.ts";

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

for (const kind of databaseKinds) {
  const shared = shareGateway({ kind, environment });

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

    test.serial(`${kind}: ${path} writes one entry with actor and origin, none if refused`, async (t) => {
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

  test.serial(`${kind}: the exceptions write no entry`, async (t) => {
    const gateway = shared();
    const browser = usual();
    const { id } = await makeEntity(gateway.admin, "providers.test");
    const before = await auditEntries(gateway);
    t.is((await browser.refresh()).status, 200);
    t.is((await browser.call("providers.test", { input: { id } })).status, 200);
    t.deepEqual(await auditEntries(gateway), before);
  });

  test.serial(`${kind}: the setup is the first entry`, async (t) => {
    const first = (await auditEntries(shared())).at(-1);
    t.like(first, { action: "user.setUp", actorName: "Ada", entityName: "Ada", entityId: first?.actorId });
  });

  test.serial(`${kind}: a failure after the change rolls back its entry`, async (t) => {
    const { admin, services } = shared();
    const { id } = await makeEntity(admin, "keys.rename");
    const before = await auditEntries(shared());
    const { name } = await admin.keys.get.query({ id });
    const failure = services.database.write(async (repositories) => {
      await repositories.apiKeys.update(id, { name: "Never" });
      await services.audit.record(
        repositories,
        { id: null, name: null, address: "" },
        { action: "key.rename", entity: { id, name: "Never" } },
      );
      throw new Error("on purpose");
    });
    await t.throwsAsync(failure);
    t.is((await admin.keys.get.query({ id })).name, name);
    t.deepEqual(await auditEntries(shared()), before);
  });
}

test("every exception is an existing mutation", (t) => {
  for (const path of Object.keys({ ...exceptions, ...preparations })) t.true(mutations.includes(path), path);
});
