import test, { type ExecutionContext } from "ava";
import { Browser } from "../helpers/browser.ts";
import { dumpDatabase } from "../helpers/dump-database.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { type DatabaseKind, databaseKinds } from "../helpers/test-database.ts";
import { administrator, startTestGateway } from "../helpers/test-gateway.ts";

async function signIn(t: ExecutionContext, kind: DatabaseKind) {
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

for (const kind of databaseKinds) {
  test(`${kind}: signing in returns a session with the refresh token only in a cookie`, async (t) => {
    const { gateway } = await signIn(t, kind);
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

  test(`${kind}: an access token lives ten minutes, and a refresh issues the next`, async (t) => {
    const { clock, browser } = await signIn(t, kind);
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

  test(`${kind}: a reused refresh token ends the session for both holders`, async (t) => {
    const { clock, browser, open } = await signIn(t, kind);
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

  test(`${kind}: two tabs that refresh within ten seconds receive the same successor`, async (t) => {
    const { clock, browser } = await signIn(t, kind);
    const [late, ...tabs] = Array.from({ length: 5 }, () => browser.copy());

    const answers = await Promise.all(tabs.map((tab) => tab.refresh()));
    t.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    clock.now += 10_000;
    t.is((await late?.refresh())?.status, 200);

    t.is(new Set([late, ...tabs].map((tab) => tab?.refreshToken)).size, 1);
    for (const tab of tabs) t.is(await tab.messageOf(), "OK");
    t.is((await tabs[0]?.refresh())?.status, 200, "and it goes on from there");
  });

  test(`${kind}: a token two generations old ends the session within ten seconds, too`, async (t) => {
    const { browser } = await signIn(t, kind);
    const thief = browser.copy();
    await browser.refresh();
    await browser.refresh();
    t.is((await thief.refresh()).code, "UNAUTHORIZED");
    t.is(await browser.messageOf(), "UNAUTHORIZED");
  });

  test(`${kind}: signing out ends the session at once, in every tab`, async (t) => {
    const { browser, open } = await signIn(t, kind);
    const [tab, other] = [browser.copy(), await open()];

    t.is((await browser.call("auth.signOut")).status, 200);

    t.is(browser.refreshToken, undefined);
    t.is(await browser.messageOf(), "UNAUTHORIZED");
    t.is(await tab.messageOf(), "UNAUTHORIZED");
    t.is((await tab.refresh()).code, "UNAUTHORIZED");
    t.is(await other.messageOf(), "OK");
    t.is((await browser.call("auth.signOut")).status, 200, "twice is no mistake");
  });

  test(`${kind}: a password change ends other sessions and invalidates the old one`, async (t) => {
    const { browser, gateway, open } = await signIn(t, kind);
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

  test(`${kind}: a password change during a sign-in takes effect at once`, async (t) => {
    const { browser, gateway } = await signIn(t, kind);
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

  test(`${kind}: a session ends thirty days after it started`, async (t) => {
    const { clock, browser } = await signIn(t, kind);
    clock.now += 30 * 86_400_000 - 1;
    const last = browser.copy();
    t.is((await last.refresh()).status, 200);
    clock.now += 1;
    t.is(await last.messageOf(), "UNAUTHORIZED", "an access token lives no longer than its session");
    t.is((await browser.refresh()).code, "UNAUTHORIZED");
  });

  test(`${kind}: a forged refresh token is refused and affects no other session`, async (t) => {
    const { browser, gateway } = await signIn(t, kind);
    for (const token of ["", "x", ".", "ses_0.secret", "ses_1'--.x", "%00.%00", "a".repeat(5_000)]) {
      const forger = Object.assign(new Browser(gateway), { refreshToken: token });
      t.is((await forger.refresh()).code, "UNAUTHORIZED", token);
      await forger.call("auth.signOut");
    }
    t.is((await new Browser(gateway).refresh()).code, "UNAUTHORIZED", "no cookie at all");
    t.is(await browser.messageOf(), "OK");
  });
}
