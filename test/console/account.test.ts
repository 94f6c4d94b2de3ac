import { readFile } from "node:fs/promises";
import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { openConsole, openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { hostileNames } from "../helpers/hostile-names.ts";
import { linkToken } from "../helpers/link-token.ts";
import { administrator, createKey, startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("a person changes their name and password, and signs out everywhere", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/account" });
  await assertAccessible(t, page);
  await page.getByLabel("Name").fill("Ada Lovelace");
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

  const again = await openSignedIn(t, { browser: browser(), gateway, password: "another good password" });
  await again.getByRole("heading", { name: "Overview" }).waitFor();

  await page.getByRole("button", { name: "Sign out everywhere" }).click();
  await assertAccessible(t, page);
  await page.getByRole("dialog").getByRole("button", { name: "Sign out everywhere" }).click();
  await page.waitForURL("**/sign-in");
  await again.reload();
  await again.waitForURL("**/sign-in");
  t.is(await again.getByRole("heading").innerText(), "Sign in");
});

browserTest("the printed link creates the first administrator once", async (t) => {
  const gateway = await startTestGateway(t, { withoutAdministrator: true });
  const path = `/set-up?token=${gateway.services.accounts.setUpToken}`;
  const wrong = await openConsole(t, { browser: browser(), gateway, path: "/set-up?token=wrong" });
  await wrong.getByRole("heading", { name: "This link is invalid" }).waitFor();
  t.is(await wrong.getByRole("textbox").count(), 0, "nobody fills a form in for nothing");
  await assertAccessible(t, wrong);
  const page = await openConsole(t, { browser: browser(), gateway, path });
  const slow = await openConsole(t, { browser: browser(), gateway, path });
  await slow.getByLabel("Name").fill("Eve");
  await slow.getByLabel("Email").fill("eve@example.com");
  await slow.getByLabel("Password").fill("correct horse battery");
  await page.getByLabel("Name").and(page.locator(":focus")).waitFor();
  await page.keyboard.type("Ada");
  await assertAccessible(t, page);
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByLabel("Password").pressSequentially("short");
  await page.getByRole("button", { name: "Create administrator" }).click();
  await page.locator("[aria-invalid=true]").waitFor();
  t.is(await page.getByText("Use at least 10 characters.").count(), 1, "what is wrong, in place of the hint");
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Create administrator" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();

  await slow.getByRole("button", { name: "Create administrator" }).click();
  await slow.getByText(/administrator already exists/).waitFor();
  const late = await openConsole(t, { browser: browser(), gateway, path });
  await late.getByText(/administrator already exists/).waitFor();
  await assertAccessible(t, late);
  t.is(await late.getByRole("button", { name: "Create administrator" }).count(), 0);
  await late.getByRole("link", { name: "Sign in" }).click();
  await late.getByRole("button", { name: "Sign in" }).waitFor();
});

browserTest("the theme follows the system until a theme is selected", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openConsole(t, { browser: browser(), gateway, path: "/docs" });
  await page.getByRole("button", { name: "Dark theme" }).waitFor();
  const isDark = () => page.locator("html").evaluate((element) => element.classList.contains("dark"));
  for (const colorScheme of ["dark", "light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.getByRole("button", { name: colorScheme === "dark" ? "Light theme" : "Dark theme" }).waitFor();
    t.is(await isDark(), colorScheme === "dark");
  }
  await page.getByRole("button", { name: "Light theme" }).click();
  await page.emulateMedia({ colorScheme: "light" });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.getByRole("button", { name: "Dark theme" }).waitFor();
  t.false(await isDark());
});

browserTest("signing in leads to the requested page, and a reload stays signed in", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openConsole(t, { browser: browser(), gateway, path: "/keys?status=active" });
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
});

browserTest("signing out ends the session in every tab", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway });
  const other = await page.context().newPage();
  await other.goto("/keys");
  await other.getByRole("heading", { name: "API keys" }).waitFor();
  const outside = await page.context().newPage();
  await outside.goto("/sign-in?to=%2Fkeys");
  await outside.getByLabel("Email").fill("ada@example.com");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("**/sign-in");
  await other.waitForURL("**/sign-in");
  t.is(await outside.getByLabel("Email").inputValue(), "ada@example.com", "nobody was signed in there");
  await other.goto("/keys");
  await other.waitForURL("**/sign-in?to=%2Fkeys");
  t.is(await other.getByRole("heading").innerText(), "Sign in");
});

for (const [who, open] of [
  ["a stranger", openConsole],
  ["a signed-in person", openSignedIn],
] as const) {
  browserTest(`${who} sees one "not found" page at an unknown address`, async (t) => {
    const gateway = await startTestGateway(t);
    const page = await open(t, { browser: browser(), gateway });
    let loads = 0;
    page.on("request", (request) => (loads += Number(request.isNavigationRequest())));
    await page.goto("/admin/keys", { waitUntil: "networkidle" });
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    t.is(loads, 1);
    t.is(new URL(page.url()).pathname, "/admin/keys");
    await page.getByRole("link", { name: "Go to overview" }).click();
    await page.waitForURL((url) => url.pathname !== "/admin/keys");
  });
}

const scriptBytesMax = 150 * 1024;

browserTest("the first load of a page is at most 150 KB of compressed script", async (t) => {
  const gateway = await startTestGateway(t);
  const key = await createKey(gateway);
  const signedIn = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  const entrance = await openConsole(t, { browser: browser(), gateway, path: "/sign-in" });
  for (const [page, path] of [
    [entrance, "/sign-in"],
    [signedIn, "/keys"],
    [signedIn, `/keys/${key.id}`],
  ] as const) {
    await page.goto(path, { waitUntil: "networkidle" });
    const bytes = await page.evaluate<number>(
      `performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".js")).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
    );
    t.log(`${path}: ${(bytes / 1024).toFixed(1)} KB`);
    t.true(bytes > 10_000 && bytes <= scriptBytesMax, `${path}: ${bytes} bytes`);
  }
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
  for (const path of ["/people", "/providers", "/providers/new", "/providers/prv_1", "/models/new"]) {
    await theirs.goto(path);
    await theirs.getByRole("heading", { name: "Administrators only" }).waitFor();
    t.is(await theirs.title(), "Administrators only · Model Gateway");
  }
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

browserTest("names that look like code are shown as text everywhere", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys/new" });
  const [name = "", ...others] = hostileNames;
  for (const other of others) await gateway.admin.keys.create.mutate({ name: other });
  await page.getByRole("textbox", { name: "Name" }).fill(name);
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("dialog", { name: `${name} created, but no models are connected` }).waitFor();
  await page.getByRole("button", { name: "Done", exact: true }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
  await page.getByRole("button", { name: "Key actions" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: `Delete ${name}?` }).waitFor();
  await assertAccessible(t, page);
  await page.goto("/keys");
  for (const each of hostileNames) await page.getByRole("link", { name: each, exact: true }).waitFor();
  await assertAccessible(t, page);
  await page.getByRole("searchbox", { name: "Search keys" }).fill("<script>");
  await page.getByRole("link", { name: hostileNames.at(-1) ?? "" }).waitFor({ state: "detached" });
  t.is(await page.getByRole("table").getByRole("link").count(), 1);
  t.deepEqual(page.complaints, []);
});
