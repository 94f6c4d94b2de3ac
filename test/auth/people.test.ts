import test from "ava";
import { Browser } from "../helpers/browser.ts";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { linkToken } from "../helpers/link-token.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { lockingKinds } from "../helpers/test-database.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { administrator, createConsoleClient, startTestGateway } from "../helpers/test-gateway.ts";

const shared = shareGateway();
const join = (token: string, password = "long enough", name = "Eve", gateway = shared()) =>
  callProcedure(gateway, "auth.join", { input: { token, name, password } });

test("an invited person joins by the link once and is signed in", async (t) => {
  const { users, audit } = shared().admin;
  const invitation = { name: "Eve", email: "Eve@Example.com", role: "admin" as const };
  const { user, link, expiresAt } = await users.invite.mutate(invitation);
  t.like(user, { name: "Eve", email: "eve@example.com", role: "admin", status: "invited" });
  t.like(user, { lastSignInAt: null, keyCount: 0 });
  t.true(link.startsWith(`${shared().url}/join#token=`));
  const days = (Date.parse(expiresAt) - Date.now()) / 86_400_000;
  t.true(days > 6.9 && days <= 7);

  const token = linkToken(link);
  const { auth } = createConsoleClient(shared().url);
  t.deepEqual(await auth.invitation.query({ token }), {
    name: "Eve",
    email: "eve@example.com",
    kind: "invitation",
  });
  const noPassword = new Browser(shared());
  t.is((await noPassword.signIn("eve@example.com", "")).code, "UNAUTHORIZED");

  const browser = new Browser(shared());
  const answer = await browser.call("auth.join", {
    input: { token, name: "Eva", password: "long enough" },
  });
  t.like(answer.data, { user: { id: user.id, name: "Eva", email: "eve@example.com", role: "admin" } });
  t.is((await browser.refresh()).status, 200, "the cookie came too");
  t.like((await browser.call("auth.me", { type: "query" })).data, { name: "Eva" });
  const found = await users.get.query({ id: user.id });
  t.is(found.status, "active");
  t.not(found.lastSignInAt, null);
  t.is((await join(token)).code, "NOT_FOUND", "it works once");
  t.is((await noPassword.signIn("eve@example.com", "long enough")).status, 200);
  t.like((await audit.list.query({ entityId: user.id, action: "user.join" })).items[0], {
    details: { by: "invitation" },
  });
});

test("a second invitation replaces the first link", async (t) => {
  const { users } = shared().admin;
  const first = await users.invite.mutate({ name: "Again", email: "again@example.com" });
  const second = await users.invite.mutate({ name: "Again!", email: "AGAIN@example.com", role: "admin" });
  t.is(second.user.id, first.user.id);
  t.like(second.user, { name: "Again!", role: "admin", status: "invited" });
  t.is((await join(linkToken(first.link))).code, "NOT_FOUND");
  t.is((await join(linkToken(second.link))).status, 200);

  const third = users.invite.mutate({ name: "Again", email: "again@example.com" });
  t.like(await t.throwsAsync(third), { data: { code: "CONFLICT", param: "email" } });
});

test("an invalid link reveals no name", async (t) => {
  for (const token of ["", "x", "A".repeat(43), "A".repeat(256), "' OR 1=1"]) {
    for (const [path, more] of [
      ["auth.invitation", {}],
      ["auth.join", { name: "Eve", password: "long enough" }],
    ] as const) {
      const type = path === "auth.join" ? "mutation" : "query";
      const answer = await callProcedure(shared(), path, { type, input: { token, ...more } });
      t.like(answer.error?.data, { code: "NOT_FOUND", param: "token" });
    }
  }
});

test("a password reset by link ends every session", async (t) => {
  const person = await addPerson(shared(), "forgetful@example.com");
  const before = new Browser(shared());
  await before.signIn(person.email, person.password);
  const { link, user } = await shared().admin.users.resetPassword.mutate({ id: person.id });
  t.is(user.status, "active");
  t.is(await before.messageOf(), "OK", "until the link is used, whoever has lost it has lost nothing");
  const { auth } = createConsoleClient(shared().url);
  t.like(await auth.invitation.query({ token: linkToken(link) }), { kind: "passwordReset" });

  t.is((await join(linkToken(link), "a new password", "Forgetful")).status, 200);
  t.is(await before.messageOf(), "UNAUTHORIZED");
  t.is((await before.signIn(person.email, person.password)).code, "UNAUTHORIZED");
  t.is((await before.signIn(person.email, "a new password")).status, 200);
});

test("disabling a person signs them out and stops their keys", async (t) => {
  const { users, keys } = shared().admin;
  const person = await addPerson(shared(), "leaving@example.com");
  const browser = new Browser(shared());
  await browser.signIn(person.email, person.password);
  const made = await person.console.keys.create.mutate({ name: "In production", models: ["demo/echo"] });
  const off = await person.console.keys.create.mutate({ name: "Off" });
  await person.console.keys.deactivate.mutate({ id: off.key.id });
  const { link } = await users.resetPassword.mutate({ id: person.id });

  const { user, ...counts } = await users.disable.mutate({ id: person.id });
  t.like(user, { status: "disabled", keyCount: 2, teamKeyCount: 0, keepKeys: false });
  t.deepEqual(counts, { stoppedKeys: 1, handedOverKeys: 0 });
  t.is(await browser.messageOf(), "UNAUTHORIZED");
  t.is((await browser.refresh()).code, "UNAUTHORIZED");
  t.is((await browser.signIn(person.email, person.password)).code, "UNAUTHORIZED");
  t.is((await join(linkToken(link))).code, "NOT_FOUND", "a link that was on its way ends too");
  t.is((await postChat(shared(), made.value, chatBody("demo/echo"))).status, 401);
  t.is((await keys.list.query({ ownerId: person.id })).items.length, 2, "an administrator sees them");
  const reset = users.resetPassword.mutate({ id: person.id });
  t.like(await t.throwsAsync(reset), { data: { code: "CONFLICT", param: "id" } });

  t.is((await users.enable.mutate({ id: person.id })).status, "active");
  t.is((await postChat(shared(), made.value, chatBody("demo/echo"))).status, 200);
  t.is((await postChat(shared(), off.value, chatBody("demo/echo"))).status, 401);
  t.is(await browser.messageOf(), "UNAUTHORIZED", "what has ended does not come back");
  t.is((await browser.signIn(person.email, person.password)).status, 200);
});

test("a leftover session does not admit a disabled person", async (t) => {
  const person = await addPerson(shared(), "disabled@example.com");
  const browser = new Browser(shared());
  await browser.signIn(person.email, person.password);
  await shared().services.database.write(({ users }) => users.update(person.id, { status: "disabled" }));
  t.is(await browser.messageOf(), "UNAUTHORIZED");
  t.is((await browser.refresh()).code, "UNAUTHORIZED");
});

test("enabling a person who never joined invites them again", async (t) => {
  const { users } = shared().admin;
  const { user, link } = await users.invite.mutate({ name: "Late", email: "late@example.com" });
  await users.disable.mutate({ id: user.id });
  t.is((await join(linkToken(link))).code, "NOT_FOUND");
  t.is((await users.enable.mutate({ id: user.id })).status, "invited");
  const again = await users.resetPassword.mutate({ id: user.id });
  t.is((await join(linkToken(again.link))).status, 200);
});

test("signing out everywhere ends every session, including this one", async (t) => {
  const person = await addPerson(shared(), "everywhere@example.com");
  const browsers = [new Browser(shared()), new Browser(shared())] as const;
  for (const browser of browsers) await browser.signIn(person.email, person.password);
  t.is((await browsers[0].call("auth.signOutEverywhere")).status, 200);
  t.is(browsers[0].refreshToken, undefined, "the cookie is gone");
  for (const browser of browsers) t.is(await browser.messageOf(), "UNAUTHORIZED");
  t.is((await browsers[1].refresh()).code, "UNAUTHORIZED");
});

test("a person can change their own name", async (t) => {
  const person = await addPerson(shared(), "renaming@example.com");
  const name = '<img src=x onerror=alert(1)> "ׁ 👩‍💻';
  t.is((await person.console.auth.rename.mutate({ name })).name, name);
  t.is((await person.console.auth.me.query()).name, name);
  t.is((await shared().admin.users.get.query({ id: person.id })).name, name);
});

for (const kind of lockingKinds) {
  test(`${kind}: a link used ten times at once admits exactly one person`, async (t) => {
    const gateway = await startTestGateway(t, { kind });
    const { link } = await gateway.admin.users.invite.mutate({ name: "Ten", email: "ten@example.com" });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => join(linkToken(link), "long enough", "Eve", gateway)),
    );
    t.is(answers.filter(({ status }) => status === 200).length, 1);
    t.is(answers.filter(({ code }) => code === "NOT_FOUND").length, 9);
  });

  test(`${kind}: the last active administrator stays, even if two demote each other`, async (t) => {
    const gateway = await startTestGateway(t, { kind });
    const { users, auth } = gateway.admin;
    const { id } = await auth.me.query();
    for (const change of [users.setRole.mutate({ id, role: "member" }), users.disable.mutate({ id })]) {
      const error = await t.throwsAsync(change, { message: /Ada is the last active administrator/ });
      t.like(error, { data: { code: "CONFLICT", param: "id" } });
    }
    await users.invite.mutate({ name: "Not yet", email: "invited@example.com", role: "admin" });
    t.like(await t.throwsAsync(users.disable.mutate({ id })), { data: { code: "CONFLICT" } });

    const other = await addPerson(gateway, "other@example.com", "admin");
    const results = await Promise.allSettled([
      users.setRole.mutate({ id: other.id, role: "member" }),
      other.console.users.setRole.mutate({ id, role: "member" }),
    ]);
    t.is(results.filter(({ status }) => status === "fulfilled").length, 1);
    const roles = await Promise.all(
      [gateway.accessToken, other.accessToken].map(async (token) => {
        return (await createConsoleClient(gateway.url, token).auth.me.query()).role;
      }),
    );
    t.deepEqual(roles.toSorted(), ["admin", "member"]);
  });

  test(`${kind}: people are found by name and address, in pages`, async (t) => {
    const gateway = await startTestGateway(t, { kind });
    const { users } = gateway.admin;
    for (const name of ["Zoë", "zoe 2", "Other"]) {
      await users.invite.mutate({
        name,
        email: `${name.length}-${name.toLowerCase().slice(0, 2)}@example.com`,
      });
    }
    const names = async (search: string) =>
      (await users.list.query({ search })).items.map(({ name }) => name).toSorted();
    t.deepEqual(await names("ZOË"), ["Zoë"]);
    t.deepEqual(await names("5-zo"), ["zoe 2"]);
    t.deepEqual(await names("%"), []);
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await users.list.query({ cursor, limit: 3 });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    t.is(new Set(seen).size, 4);
    const ada = (await users.list.query({ search: administrator.email })).items[0];
    t.like(ada, { name: "Ada", role: "admin", status: "active", keyCount: 0 });
  });
}

test("a link expires after a week", async (t) => {
  const clock = { now: Date.parse("2026-06-01T12:00:00Z") };
  const gateway = await startTestGateway(t, { runtime: { now: () => clock.now } });
  const { link } = await gateway.admin.users.invite.mutate({ name: "Slow", email: "slow@example.com" });
  const input = { token: linkToken(link) };
  clock.now += 7 * 86_400_000 - 1;
  t.is((await callProcedure(gateway, "auth.invitation", { type: "query", input })).status, 200);
  clock.now += 1;
  t.is((await callProcedure(gateway, "auth.invitation", { type: "query", input })).code, "NOT_FOUND");
});

test("a link starts with PUBLIC_URL or the address of the request", async (t) => {
  const configured = await startTestGateway(t, { environment: { PUBLIC_URL: "https://ai.example.com/" } });
  const invitation = { name: "Eve", email: "eve@example.com" };
  const invite = async (gateway: typeof configured, headers: Record<string, string>) => {
    const { accessToken } = gateway;
    const answer = await callProcedure(gateway, "users.invite", { input: invitation, accessToken, headers });
    return (answer.data as { link: string }).link.split("#")[0];
  };
  t.is(await invite(configured, { origin: "https://evil.example.com" }), "https://ai.example.com/join");
  const plain = await startTestGateway(t);
  t.is(await invite(plain, { origin: "https://gateway.example.com" }), "https://gateway.example.com/join");
  t.is(await invite(plain, { host: "gateway.local:8080" }), "http://gateway.local:8080/join");
  t.is(await invite(plain, { origin: "null", host: "b.example.com" }), "http://b.example.com/join");
});
