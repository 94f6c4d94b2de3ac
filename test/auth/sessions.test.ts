import test, { type ExecutionContext } from "ava";
import { Browser } from "../helpers/browser.ts";
import { dumpDatabase } from "../helpers/dump-database.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { type DatabaseKind, lockingKinds } from "../helpers/test-database.ts";
import { administrator, createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { linkToken } from "../helpers/link-token.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";

async function signIn(t: ExecutionContext, kind: DatabaseKind = "sqlite") {
  const clock = { now: Date.parse("2026-06-01T12:00:00Z") };
  const gateway = await startTestGateway(t, { kind, runtime: { now: () => clock.now } });
  const open = async () => {
    const browser = new Browser(gateway);
    const answer = await browser.signIn(administrator.email, administrator.password);
    t.is(answer.status, 200);
    return browser;
  };
  return { clock, gateway, open, browser: await open() };
}

test("signing in returns a session with the refresh token only in a cookie", async (t) => {
  const { gateway } = await signIn(t);
  const browser = new Browser(gateway);
  const answer = await browser.signIn("  ADA@example.com ", administrator.password);

  t.like(answer.data, { user: { name: "Ada", email: "ada@example.com", role: "admin" } });
  const { expiresAt } = answer.data as { expiresAt: string };
  t.is(expiresAt, "2026-06-01T12:10:00.000Z");
  t.is(await browser.messageOf(), "OK");
  const token = browser.refreshToken ?? t.fail();
  t.false(answer.text.includes(String(token)));

  const dump = await dumpDatabase(gateway.environment["DATABASE_URL"] ?? "");
  const stored = dump + gateway.log.join("");
  const secrets = {
    password: administrator.password,
    refreshSecret: String(token).split(".")[1] ?? "",
    accessToken: browser.accessToken ?? "",
  };
  t.deepEqual(findLeaks(stored, secrets), []);
});

test("an access token lives ten minutes, and a refresh issues the next", async (t) => {
  const { clock, browser } = await signIn(t);
  const first = browser.copy();

  clock.now += 600_000;
  t.is(await browser.messageOf(), "UNAUTHORIZED");
  t.is((await browser.refresh()).status, 200);
  t.is(await browser.messageOf(), "OK");
  t.not(browser.refreshToken, first.refreshToken);
  t.not(browser.accessToken, first.accessToken);

  for (let round = 0; round < 5; round++) {
    clock.now += 3_600_000;
    t.is((await browser.refresh()).status, 200, "again and again");
  }
});

test("a reused refresh token ends the session for both holders", async (t) => {
  const { clock, browser, open } = await signIn(t);
  const other = await open();
  const thief = browser.copy();
  t.is((await browser.refresh()).status, 200);

  clock.now += 10_001;
  const refused = await thief.refresh();

  t.is(refused.code, "UNAUTHORIZED");
  t.is(thief.refreshToken, undefined, "the cookie is taken back");
  t.is(await browser.messageOf(), "UNAUTHORIZED", "the access token is refused too");
  t.is((await browser.refresh()).code, "UNAUTHORIZED");
  t.is(await other.messageOf(), "OK", "another session of the same person goes on");
});

test("a token two generations old ends the session within ten seconds, too", async (t) => {
  const { browser } = await signIn(t);
  const thief = browser.copy();
  await browser.refresh();
  await browser.refresh();
  t.is((await thief.refresh()).code, "UNAUTHORIZED");
  t.is(await browser.messageOf(), "UNAUTHORIZED");
});

test("signing out ends the session at once, in every tab", async (t) => {
  const { browser, open } = await signIn(t);
  const [tab, other] = [browser.copy(), await open()];

  t.is((await browser.call("auth.signOut")).status, 200);

  t.is(browser.refreshToken, undefined);
  t.is(await browser.messageOf(), "UNAUTHORIZED");
  t.is(await tab.messageOf(), "UNAUTHORIZED");
  t.is((await tab.refresh()).code, "UNAUTHORIZED");
  t.is(await other.messageOf(), "OK");
  t.is((await browser.call("auth.signOut")).status, 200, "twice is no mistake");
});

test("a password change ends other sessions and invalidates the old one", async (t) => {
  const { browser, gateway, open } = await signIn(t);
  const other = await open();
  const change = (currentPassword: string, newPassword: string) =>
    browser.call("auth.changePassword", { input: { currentPassword, newPassword } });

  t.is((await change("wrong", "a new password")).code, "FORBIDDEN");
  t.is((await change(administrator.password, "short")).code, "BAD_REQUEST");
  t.is(await other.messageOf(), "OK");
  t.is((await change(administrator.password, "a new password")).status, 200);

  t.is(await browser.messageOf(), "OK");
  t.is((await browser.refresh()).status, 200);
  t.is(await other.messageOf(), "UNAUTHORIZED");
  t.is((await other.refresh()).code, "UNAUTHORIZED");
  const again = new Browser(gateway);
  t.is((await again.signIn(administrator.email, administrator.password)).code, "UNAUTHORIZED");
  t.is((await again.signIn(administrator.email, "a new password")).status, 200);
});

test("a password change during a sign-in takes effect at once", async (t) => {
  const { browser, gateway } = await signIn(t);
  const { database } = gateway.services;
  const write = database.write.bind(database);
  /** Changes the password hash between the password check and the next write. */
  const changeBeforeNextWrite = () => {
    database.write = async (work) => {
      database.write = write;
      await write(async ({ users }) => {
        const user = await users.findByEmail(administrator.email);
        if (user) await users.update(user.id, { passwordHash: `${user.passwordHash} of another` });
      });
      return write(work);
    };
  };
  const signInAgain = () => new Browser(gateway).signIn(administrator.email, administrator.password);
  const newPassword = "a new password";

  changeBeforeNextWrite();
  t.is((await signInAgain()).code, "UNAUTHORIZED");
  await write(async ({ users }) => {
    const user = await users.findByEmail(administrator.email);
    if (user) await users.update(user.id, { passwordHash: user.passwordHash.replace(" of another", "") });
  });
  t.is((await signInAgain()).status, 200);

  changeBeforeNextWrite();
  const input = { currentPassword: administrator.password, newPassword };
  t.is((await browser.call("auth.changePassword", { input })).code, "FORBIDDEN");
  t.is((await new Browser(gateway).signIn(administrator.email, newPassword)).code, "UNAUTHORIZED");
});

test("a session ends thirty days after it started", async (t) => {
  const { clock, browser } = await signIn(t);
  clock.now += 30 * 86_400_000 - 1;
  const last = browser.copy();
  t.is((await last.refresh()).status, 200);
  clock.now += 1;
  t.is(await last.messageOf(), "UNAUTHORIZED", "an access token lives no longer than its session");
  t.is((await browser.refresh()).code, "UNAUTHORIZED");
});

test("a forged refresh token is refused and affects no other session", async (t) => {
  const { browser, gateway } = await signIn(t);
  for (const token of ["", "x", ".", "ses_0.secret", "ses_1'--.x", "%00.%00", "a".repeat(5_000)]) {
    const forger = Object.assign(new Browser(gateway), { refreshToken: token });
    t.is((await forger.refresh()).code, "UNAUTHORIZED", token);
    await forger.call("auth.signOut");
  }
  t.is((await new Browser(gateway).refresh()).code, "UNAUTHORIZED", "no cookie at all");
  t.is(await browser.messageOf(), "OK");
});

for (const kind of lockingKinds) {
  test(`${kind}: two tabs that refresh within ten seconds receive the same successor`, async (t) => {
    const { clock, browser } = await signIn(t, kind);
    const [late, ...tabs] = Array.from({ length: 5 }, () => browser.copy());

    const answers = await Promise.all(tabs.map((tab) => tab.refresh()));
    const statuses = answers.map(({ status }) => status);
    t.deepEqual(statuses, [200, 200, 200, 200]);
    clock.now += 10_000;
    t.is((await late?.refresh())?.status, 200);

    t.is(new Set([late, ...tabs].map((tab) => tab?.refreshToken)).size, 1);
    for (const tab of tabs) t.is(await tab.messageOf(), "OK");
    t.is((await tabs[0]?.refresh())?.status, 200, "and it goes on from there");
  });
}

for (const kind of lockingKinds) {
  const shared = shareGateway({ kind });
  // Tests are serial, because some tests replace `database.write` of the shared gateway.
  for (const what of ["a new password by a link", "being disabled"]) {
    test.serial(`${kind}: ${what} ends a session started concurrently with the old password`, async (t) => {
      const { gateway, person, token } = await createLink(shared());
      const [thief, victim] = [new Browser(gateway), new Browser(gateway)];
      const { database } = gateway.services;
      const write = database.write.bind(database);
      let signingIn: Promise<unknown> = Promise.resolve();
      database.write = (work) =>
        write(async (repositories) => {
          const { sessions } = repositories;
          const deleteOf = sessions.deleteOf.bind(sessions);
          sessions.deleteOf = async (id) => {
            const count = await deleteOf(id);
            signingIn = thief.signIn(person.email, person.password);
            // The sign-in may wait until this transaction ends, so the hook waits at most 200 ms for the sign-in.
            await Promise.race([signingIn, new Promise((resolve) => setTimeout(resolve, 200))]);
            return count;
          };
          return work(repositories);
        });
      if (what === "being disabled") {
        await gateway.admin.users.disable.mutate({ id: person.id });
        await signingIn;
        await gateway.admin.users.enable.mutate({ id: person.id });
      } else {
        const input = { token, name: "P", password: "a new password" };
        t.is((await victim.call("auth.join", { input })).status, 200);
        await signingIn;
      }
      database.write = write;
      t.is(await thief.messageOf(), "UNAUTHORIZED");
    });
  }

  // In SQLite, the write of `auth.join` would wait for the outer write to end.
  const testThere = kind === "sqlite" ? () => {} : test.serial;
  testThere(`${kind}: a link used during a password change takes precedence`, async (t) => {
    const { gateway, person, token } = await createLink(shared());
    const [thief, victim] = [new Browser(gateway), new Browser(gateway)];
    await thief.signIn(person.email, person.password);
    const { database } = gateway.services;
    const write = database.write.bind(database);
    database.write = (work) =>
      write((repositories) => {
        const { users } = repositories;
        const replacePassword = users.replacePassword.bind(users);
        users.replacePassword = async (...change) => {
          const input = { token, name: "P", password: "a new password" };
          t.is((await victim.call("auth.join", { input })).status, 200);
          return replacePassword(...change);
        };
        return work(repositories);
      });
    const input = { currentPassword: person.password, newPassword: "the thief's password" };
    t.is((await thief.call("auth.changePassword", { input })).code, "FORBIDDEN");
    database.write = write;
    t.is(await victim.messageOf(), "OK");
  });

  test.serial(`${kind}: changing the password invalidates an earlier link`, async (t) => {
    const { gateway, person, token } = await createLink(shared());
    const { password: currentPassword } = person;
    await person.console.auth.changePassword.mutate({ currentPassword, newPassword: "a new password" });
    const input = { token, name: "P", password: "the thief's password" };
    t.is((await callProcedure(gateway, "auth.join", { input })).code, "NOT_FOUND");
  });

  test.serial(`${kind}: of links created at once for a person, the last one is valid`, async (t) => {
    const { gateway, person } = await createLink(shared());
    const { users } = gateway.admin;
    for (let round = 0; round < 10; round++) {
      const made = await Promise.all([1, 2, 3].map(() => users.resetPassword.mutate({ id: person.id })));
      t.is(new Set(made.map(({ link }) => link)).size, 3);
    }
  });

  test.serial(`${kind}: of two simultaneous deletions of a key, one reports it missing`, async (t) => {
    const gateway = shared();
    for (let round = 0; round < 5; round++) {
      const { id } = await createKey(gateway);
      const outcomes = await Promise.allSettled([1, 2].map(() => gateway.admin.keys.delete.mutate({ id })));
      t.deepEqual(outcomes.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
      const { items } = await gateway.admin.audit.list.query({ entityId: id, action: "key.delete" });
      t.is(items.length, 1);
    }
  });

  test.serial(`${kind}: a model deleted while a key is created with it is unknown`, async (t) => {
    const gateway = shared();
    const { admin } = gateway;
    const { id: providerId } = await admin.providers.create.mutate({ name: "other", kind: "demo" });
    const codes = new Set<string>();
    for (let round = 0; round < 10; round++) {
      const slug = `other/${round}`;
      await admin.models.create.mutate({ slug, providerId });
      const making = [1, 2, 3].map(() => admin.keys.create.mutate({ name: "K", models: [slug] }));
      for (const outcome of await Promise.allSettled([admin.models.delete.mutate({ slug }), ...making]))
        if (outcome.status === "rejected")
          codes.add((outcome.reason as { data: { code: string } }).data.code);
    }
    codes.delete("BAD_REQUEST");
    t.deepEqual([...codes], []);
  });
}

async function createLink(gateway: TestGateway) {
  const person = await addPerson(gateway, `p${(personCount += 1)}@example.com`);
  const { link } = await gateway.admin.users.resetPassword.mutate({ id: person.id });
  return { gateway, person, token: linkToken(link) };
}
let personCount = 0;
