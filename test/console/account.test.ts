import test from "ava";
import type { Page } from "playwright-core";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { Browser } from "../helpers/browser.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { becomePerson, openConsole, openSignedIn, shareBrowser, visit } from "../helpers/chromium.ts";
import { linkToken } from "../helpers/link-token.ts";
import { administrator, createKey, startTestGateway } from "../helpers/test-gateway.ts";
import { choose, download } from "./console-actions.ts";

const browser = shareBrowser(test);

browserTest("signing in leads to the requested page, where name and password change", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openConsole(t, { browser: browser(), gateway, path: null });
  let loads = 0;
  page.on("request", (request) => (loads += Number(request.isNavigationRequest())));
  const meetUnknownPage = async () => {
    loads = 0;
    await page.goto("/admin/keys", { waitUntil: "networkidle" });
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    t.is(loads, 1);
    t.is(new URL(page.url()).pathname, "/admin/keys");
    await page.getByRole("link", { name: "Go to overview" }).click();
    await page.waitForURL((url) => url.pathname !== "/admin/keys");
  };
  await meetUnknownPage();
  await page.goto("/keys?status=active");
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.getByText("Forgot your password? Ask an administrator for a reset link.").waitFor();
  await assertAccessible(t, page);
  await page.getByLabel("Email").fill(administrator.email);
  await page.getByLabel("Password").fill("not the password");
  await page.keyboard.press("Enter");
  t.regex(await page.getByRole("alert").innerText(), /email address or the password is wrong.*Request req_/s);
  t.is(await page.getByLabel("Password").inputValue(), "");
  await page.getByLabel("Password").fill(administrator.password);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/keys?status=active");
  await page.reload();
  await page.getByRole("heading", { name: "API keys" }).waitFor();
  await meetUnknownPage();

  await visit(page, "/account");
  await page.getByLabel("Name").fill("Ada Lovelace");
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Name changed").waitFor();
  t.is(await page.getByRole("link", { name: "Ada Lovelace" }).count(), 1);

  await page.getByLabel("Current password").fill("not the password");
  await page.getByLabel("New password").fill("another good password");
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByText("The current password is wrong. Enter it again.").waitFor();
  await page.getByLabel("Current password").fill(administrator.password);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByText("Password changed.").waitFor();
  const elsewhere = new Browser(gateway);
  await elsewhere.signIn(administrator.email, "another good password");
  t.is((await elsewhere.refresh()).status, 200);

  await page.getByRole("button", { name: "Sign out everywhere" }).click();
  await assertAccessible(t, page);
  await page.getByRole("dialog").getByRole("button", { name: "Sign out everywhere" }).click();
  await page.waitForURL("**/sign-in");
  t.is((await elsewhere.refresh()).status, 401);
});

const scriptBytesMax = 150 * 1024;

browserTest("signing out ends the session in every tab, whose scripts have at most 150 KB", async (t) => {
  const gateway = await startTestGateway(t);
  const assertSmall = async (page: Page) => {
    await page.waitForLoadState("networkidle");
    const bytes = await page.evaluate<number>(
      `performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".js")).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
    );
    t.log(`${page.url()}: ${(bytes / 1024).toFixed(1)} KB`);
    t.true(bytes > 10_000 && bytes <= scriptBytesMax, `${page.url()}: ${bytes} bytes`);
  };
  const key = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${key.id}` });
  await assertSmall(page);
  const other = await page.context().newPage();
  await other.goto("/keys");
  await other.getByRole("heading", { name: "API keys" }).waitFor();
  await assertSmall(other);
  const outside = await page.context().newPage();
  await outside.goto("/sign-in?to=%2Fkeys");
  await outside.getByLabel("Email").fill("ada@example.com");
  await assertSmall(outside);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("**/sign-in");
  await other.waitForURL("**/sign-in");
  t.is(await outside.getByLabel("Email").inputValue(), "ada@example.com", "nobody was signed in there");
  await other.goto("/keys");
  await other.waitForURL("**/sign-in?to=%2Fkeys");
  t.is(await other.getByRole("heading").innerText(), "Sign in");
});

browserTest("a page shows with at most 100 KB of compressed script", async (t) => {
  const gateway = await startTestGateway(t);
  for (const path of ["/", "/sign-in", "/keys", "/keys/key_1", "/models/new", "/requests", "/usage"]) {
    const answer = await fetch(`${gateway.url}${path}`, { headers: { accept: "text/html" } });
    const named = `${answer.headers.get("link")}${await answer.text()}`;
    const files = new Set(named.match(/_app\/immutable\/[^">]+\.js/g));
    const sizes = await Promise.all(
      [...files].map(async (file) => {
        const { headers } = await fetch(`${gateway.url}/${file}`, { headers: { "accept-encoding": "br" } });
        return Number(headers.get("content-length"));
      }),
    );
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    t.log(`${path}: ${(bytes / 1024).toFixed(1)} KB in ${sizes.length} files`);
    t.true(bytes > 10_000 && bytes <= 100 * 1024, `${path}: ${bytes} bytes`);
  }
});

browserTest("an invited person joins by the link, which works once and is in no URL", async (t) => {
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

  await becomePerson(page, null, "/sign-in");
  const sent: string[] = [];
  page.on("request", (request) => sent.push(request.url()));
  await page.goto(link);
  await page.waitForURL(`${gateway.url}/join`);
  await page.getByLabel("Password").waitFor();
  t.deepEqual(
    sent.filter((url) => url.includes(linkToken(link))),
    [],
  );
  await page.goBack();
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  await page.goForward();
  await page.getByRole("heading", { name: "This link is incomplete" }).waitFor();
  await assertAccessible(t, page);
  // Only the hash changes, so the browser does not reload the page.
  await page.goto(link);
  await page.getByLabel("Password").waitFor();
  await page.waitForURL(`${gateway.url}/join`);
  await assertAccessible(t, page);
  t.is(await page.getByLabel("Email").inputValue(), "grace@example.com");
  await page.getByLabel("Password").fill("a password of Grace");
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  t.is(await page.getByRole("link", { name: "People" }).count(), 0);
  for (const path of ["/people", "/providers", "/providers/new", "/providers/prv_1", "/models/new"]) {
    await visit(page, path);
    await page.getByRole("heading", { name: "Administrators only" }).waitFor();
    t.is(await page.title(), "Administrators only · Model Gateway");
  }
  await page.goto("/models/new");
  await page.getByRole("heading", { name: "Administrators only" }).waitFor();
  await assertAccessible(t, page);

  await becomePerson(page, null, link);
  await page.getByRole("heading", { name: "This link is invalid" }).waitFor();
  await assertAccessible(t, page);
});

browserTest("roles change, people are disabled and enabled, and one administrator stays", async (t) => {
  const gateway = await startTestGateway(t);
  await addPerson(gateway, "grace@example.com");
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/people" });
  const act = async (action: string, name = "grace@example.com") => {
    await page.getByRole("button", { name: `Actions for ${name}` }).click();
    await page.getByRole("menuitem", { name: action }).click();
  };

  await act("Make member", "Ada");
  await page.getByRole("button", { name: "Change role" }).click();
  await page.getByText("Ada is the last active administrator").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();

  await act("Make administrator");
  await page.getByRole("button", { name: "Change role" }).click();
  await page.getByText("is now an administrator").waitFor();

  await act("Disable");
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("cell", { name: "Disabled" }).waitFor();
  await act("Enable");
  await page.getByRole("cell", { name: "Disabled" }).waitFor({ state: "detached" });

  await act("Create reset link");
  await page.getByRole("button", { name: "Create link" }).click();
  await page.getByRole("heading", { name: "Link for grace@example.com", exact: true }).waitFor();
  const { items } = await gateway.admin.users.list.query();
  t.is(items.find(({ email }) => email === "grace@example.com")?.status, "active");
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.getByRole("button", { name: "Done" }).click();

  // Who gives up the role sees a member's console at once.
  await act("Make member", "Ada");
  await page.getByRole("button", { name: "Change role" }).click();
  await page.getByRole("link", { name: "Audit log" }).first().waitFor({ state: "detached" });
  t.is(await page.getByRole("link", { name: "People" }).count(), 0);
});

const expiry = "2099-06-01T12:34:56.000Z";

const exactExpiry = `new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "long", hourCycle: "h23" })
  .format(new Date("${expiry}"))`;

browserTest("the audit log is filtered, searched, exported, and fits a phone", async (t) => {
  const gateway = await startTestGateway(t);
  const { key } = await gateway.admin.keys.create.mutate({ name: "Laptop" });
  await gateway.admin.keys.rename.mutate({ id: key.id, name: "Old laptop" });
  await gateway.admin.keys.create.mutate({ name: "Server", limits: { requestsPerMinute: 60 } });
  await gateway.admin.keys.create.mutate({ name: "=1+1" });
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

  await choose(page, "Action", "Key created");
  // The closing list of actions contains the same text, so the locator selects only the cell.
  await page.getByRole("cell", { name: "Key renamed" }).waitFor({ state: "detached" });
  t.is(await page.getByRole("row").count(), 5);
  await choose(page, "Action", "Any action");

  await page.getByRole("link", { name: "Old laptop" }).first().click();
  await page.getByRole("link", { name: "Server" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Clear target filter" }).click();
  await page.getByRole("link", { name: "Server" }).waitFor();

  await choose(page, "Person", "Ada");
  await choose(page, "Period", "Last 7 days");
  await page.waitForURL(/\?actor=usr_\w+&period=week$/);
  await page.getByRole("link", { name: "Server" }).waitFor();
  await visit(page, "/audit-log?action=key.delete");
  await page.getByText("No entries match").waitFor();
  await assertAccessible(t, page);

  await visit(page, "/audit-log");
  await page.getByRole("searchbox", { name: "Search audit log" }).fill("serv");
  await page.getByRole("cell", { name: "Signed in" }).first().waitFor({ state: "detached" });
  await page.getByRole("row").nth(2).waitFor({ state: "detached" });
  const server = page.getByRole("row").filter({ hasText: "Server" });
  await server.getByText("Requests per minute: 60").last().waitFor();
  t.false((await server.innerText()).includes("none"), await server.innerText());
  const exportLines = async () => {
    const { text } = await download(page, "Export CSV");
    t.notRegex(text, /"=1\+1"/, "no formula");
    return text.match(/^"aud_/gm)?.length ?? 0;
  };
  t.is(await exportLines(), 1);
  await page.getByRole("searchbox", { name: "Search audit log" }).fill("127.0.0.1");
  await page.getByRole("link", { name: "=1+1" }).waitFor();
  const { items } = await gateway.admin.audit.list.query({ search: "127.0.0.1" });
  t.is(await exportLines(), items.length);

  const name = "The laptop with the very long name that nobody wanted to shorten";
  await gateway.admin.keys.rename.mutate({ id: key.id, name });
  await page.setViewportSize({ width: 360, height: 780 });
  await page.goto("/audit-log");
  const entry = page.getByRole("row").filter({ hasText: "Key renamed" }).first();
  const change = entry.getByRole("listitem").filter({ hasText: `Old laptop → ${name}` });
  await change.waitFor();
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
});
