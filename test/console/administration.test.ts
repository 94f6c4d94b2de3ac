import { readFile } from "node:fs/promises";
import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { openConsole, openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { hostileNames } from "../helpers/hostile-names.ts";
import { linkToken } from "../helpers/link-token.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("an invited person joins by the link, which works once", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/people" });
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByLabel("Name").fill("Grace");
  await page.getByLabel("Email").fill("grace@example.com");
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Create invitation link" }).click();
  await page.getByRole("heading", { name: "Link for Grace" }).waitFor();
  await assertAccessible(t, page);
  await page.keyboard.press("Escape");
  t.true(await page.getByRole("heading", { name: "Link for Grace" }).isVisible(), "not closed by accident");
  await page.getByRole("button", { name: "Copy link" }).click();
  const link = await page.evaluate<string>("navigator.clipboard.readText()");
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText("Invited", { exact: true }).waitFor();

  const theirs = await openConsole(t, {
    browser: browser(),
    gateway,
    path: link.slice(gateway.url.length),
  });
  await theirs.getByLabel("Password").waitFor();
  await theirs.waitForURL(`${gateway.url}/join`);
  await assertAccessible(t, theirs);
  t.is(await theirs.getByLabel("Email").inputValue(), "grace@example.com");
  await theirs.getByLabel("Password").fill("a password of Grace");
  await theirs.getByRole("button", { name: "Join" }).click();
  await theirs.getByRole("heading", { name: "Overview" }).waitFor();
  t.is(await theirs.getByRole("link", { name: "People" }).count(), 0);
  await theirs.goto("/people");
  await theirs.getByRole("heading", { name: "Administrators only" }).waitFor();
  await assertAccessible(t, theirs);

  const late = await openConsole(t, {
    browser: browser(),
    gateway,
    path: link.slice(gateway.url.length),
  });
  await late.getByRole("heading", { name: "This link is invalid" }).waitFor();
  await assertAccessible(t, late);
});

browserTest("a join token leaves the address bar and appears in no requested URL", async (t) => {
  const gateway = await startTestGateway(t);
  const { link } = await gateway.admin.users.invite.mutate({ name: "Grace", email: "grace@example.com" });
  const token = linkToken(link);
  const page = await openConsole(t, { browser: browser(), gateway, path: "/sign-in" });
  const sent: string[] = [];
  page.on("request", (request) => sent.push(request.url()));
  await page.goto(`/join#token=${token}`);
  await page.waitForURL(`${gateway.url}/join`);
  await page.getByLabel("Password").waitFor();
  t.deepEqual(
    sent.filter((url) => url.includes(token)),
    [],
  );
  await page.goBack();
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  await page.goForward();
  await page.getByRole("heading", { name: "This link is incomplete" }).waitFor();
  await assertAccessible(t, page);
  // Only the hash changes, so the browser does not reload the page.
  await page.goto(`/join#token=${token}`);
  await page.getByLabel("Password").waitFor();
  await page.waitForURL(`${gateway.url}/join`);
});

browserTest("roles change, people are disabled and enabled, and one administrator stays", async (t) => {
  const gateway = await startTestGateway(t);
  await addPerson(gateway, "grace@example.com");
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/people" });
  const choose = async (action: string, name = "grace@example.com") => {
    await page.getByRole("button", { name: `Actions for ${name}` }).click();
    await page.getByRole("menuitem", { name: action }).click();
  };

  await choose("Make member", "Ada");
  await page.getByRole("button", { name: "Change role" }).click();
  await page.getByText("Ada is the last active administrator").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();

  await choose("Make administrator");
  await page.getByRole("button", { name: "Change role" }).click();
  await page.getByText("is now an administrator").waitFor();

  await choose("Disable");
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("cell", { name: "Disabled" }).waitFor();
  await choose("Enable");
  await page.getByRole("cell", { name: "Disabled" }).waitFor({ state: "detached" });

  await choose("Create reset link");
  await page.getByRole("button", { name: "Create link" }).click();
  await page.getByRole("heading", { name: "Link for grace@example.com", exact: true }).waitFor();
  const { items } = await gateway.admin.users.list.query();
  t.is(items.find(({ email }) => email === "grace@example.com")?.status, "active");
});

browserTest("people's names are rendered as text", async (t) => {
  const gateway = await startTestGateway(t);
  for (const [place, name] of hostileNames.entries()) {
    await gateway.admin.users.invite.mutate({ name, email: `p${place}@example.com`, role: "member" });
  }
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/people" });
  for (const name of hostileNames) await page.getByText(name, { exact: true }).first().waitFor();
  await assertAccessible(t, page);
  await page.goto("/audit-log");
  for (const name of hostileNames)
    await page.getByText(name, { exact: true }).filter({ visible: true }).first().waitFor();
  await assertAccessible(t, page);
});

browserTest("an administrator who gives up the role sees a member's console at once", async (t) => {
  const gateway = await startTestGateway(t);
  await addPerson(gateway, "grace@example.com", "admin");
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/people" });
  await page.getByRole("row", { name: "· you" }).getByRole("button", { name: "Actions for" }).click();
  await page.getByRole("menuitem", { name: "Make member" }).click();
  await page.getByRole("button", { name: "Change role" }).click();
  await page.getByRole("link", { name: "Audit log" }).first().waitFor({ state: "detached" });
  t.is(await page.getByRole("link", { name: "People" }).count(), 0);
});

const expiry = "2099-06-01T12:34:56.000Z";
const exactExpiry = `new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "long", hourCycle: "h23" })
  .format(new Date("${expiry}"))`;

browserTest("the audit log lists actions and filters by action, person, time and target", async (t) => {
  const gateway = await startTestGateway(t);
  const { key } = await gateway.admin.keys.create.mutate({ name: "Laptop" });
  await gateway.admin.keys.rename.mutate({ id: key.id, name: "Old laptop" });
  await gateway.admin.keys.create.mutate({ name: "Server" });
  await gateway.admin.keys.setModels.mutate({ id: key.id, models: ["demo/echo"] });
  await gateway.admin.keys.create.mutate({ name: "Short", expiresAt: expiry });
  const { link } = await gateway.admin.users.invite.mutate({ name: "Eve", email: "eve@example.com" });
  const token = linkToken(link);
  await callProcedure(gateway, "auth.join", { input: { token, name: "Eve", password: "long enough" } });
  await callProcedure(gateway, "auth.signIn", { input: { email: "eve@example.com", password: "wrong" } });
  const budgetsUsd = { day: 0.001, week: 5 };
  await gateway.admin.keys.setLimits.mutate({ id: key.id, limits: { budgetsUsd } });
  await gateway.admin.keys.setLimits.mutate({ id: key.id, limits: { budgetsUsd: { day: null } } });

  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/audit-log" });
  await page.getByRole("cell", { name: "Key renamed" }).waitFor();
  await assertAccessible(t, page);
  const details = [
    "Laptop → Old laptop",
    "Daily budget: $0.001 → none",
    "Weekly budget: none → $5.00",
    "Added: demo/echo",
    "Invited again: no",
    "Link type: invitation",
    "Attempts: 1",
    `Expires: ${await page.evaluate<string>(exactExpiry)}`,
  ];
  const shown = (text: string) => page.getByRole("listitem").filter({ hasText: text });
  for (const text of details) await shown(text).first().waitFor();
  const created = page.getByRole("row").filter({ hasText: "Key created" }).first();
  t.regex(await created.innerText(), /Owner: Ada\s+Owner ID: usr_/, "the name comes before the id");

  await page.getByLabel("Action").click();
  await page.getByRole("option", { name: "Key created" }).click();
  // The closing list of actions contains the same text, so the locator selects only the cell.
  await page.getByRole("cell", { name: "Key renamed" }).waitFor({ state: "detached" });
  t.is(await page.getByRole("row").count(), 4);
  await page.getByLabel("Action").click();
  await page.getByRole("option", { name: "Any action" }).click();

  await page.getByRole("link", { name: "Old laptop" }).first().click();
  await page.getByRole("link", { name: "Server" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Clear target filter" }).click();
  await page.getByRole("link", { name: "Server" }).waitFor();

  await page.getByLabel("Person").click();
  await page.getByRole("option", { name: "Ada" }).click();
  await page.getByLabel("Period").click();
  await page.getByRole("option", { name: "Last 7 days" }).click();
  await page.waitForURL(/\?actor=usr_\w+&period=week$/);
  await page.getByRole("link", { name: "Server" }).waitFor();
  await page.goto("/audit-log?action=key.delete");
  await page.getByText("No entries match").waitFor();
  await assertAccessible(t, page);
});

browserTest("the audit log omits unset values, is searchable and exports CSV", async (t) => {
  const gateway = await startTestGateway(t);
  await gateway.admin.keys.create.mutate({ name: "Laptop", limits: { requestsPerMinute: 60 } });
  await gateway.admin.keys.create.mutate({ name: "=1+1" });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/audit-log" });
  const created = page.getByRole("row").filter({ hasText: "Laptop" });
  await created.getByText("Requests per minute: 60").last().waitFor();
  t.false((await created.innerText()).includes("none"), await created.innerText());

  await page.getByRole("searchbox", { name: "Search audit log" }).fill("lapt");
  await page.getByRole("cell", { name: "Signed in" }).first().waitFor({ state: "detached" });
  t.is(await page.getByRole("row").count(), 2);
  await assertAccessible(t, page);
  t.is(await exportLines(page), 1);
  await page.goto("/audit-log?search=127.0.0.1");
  await page.getByRole("link", { name: "=1+1" }).waitFor();
  t.is(await exportLines(page), 4);

  async function exportLines(from: typeof page): Promise<number> {
    const downloading = from.waitForEvent("download");
    await from.getByRole("button", { name: "Export CSV" }).click();
    const csv = await readFile(await (await downloading).path(), "utf8");
    t.notRegex(csv, /"=1\+1"/, "no formula");
    return csv.match(/^"aud_/gm)?.length ?? 0;
  }
});

browserTest("a phone shows what an entry changed, where, and from which address", async (t) => {
  const gateway = await startTestGateway(t);
  const { key } = await gateway.admin.keys.create.mutate({ name: "Laptop" });
  const name = "The laptop with the very long name that nobody wanted to shorten";
  await gateway.admin.keys.rename.mutate({ id: key.id, name });
  const viewport = { width: 360, height: 780 };
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/audit-log", viewport });
  const entry = page.getByRole("row").filter({ hasText: "Key renamed" });
  await entry
    .getByRole("listitem")
    .filter({ hasText: `Laptop → ${name}` })
    .waitFor();
  await entry.getByRole("link", { name }).waitFor();
  await entry.getByText(/^[A-Z][a-z]{2} \d+, \d\d:\d\d:\d\d$/).waitFor();
  const address = entry.getByText("127.0.0.1", { exact: true });
  const lines = await address.evaluate((element) => {
    const range = element.ownerDocument.createRange();
    range.selectNodeContents(element);
    return range.getClientRects().length;
  });
  t.is(lines, 1, "an address is not broken");
  const [box, table] = [await address.boundingBox(), await page.getByRole("table").boundingBox()];
  t.true((box?.x ?? 999) + (box?.width ?? 0) <= 360 && (table?.width ?? 999) <= 360, "without scrolling");
  await assertAccessible(t, page);
});
