import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openConsole, openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { administrator, createKey, startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("a person changes their name and password", async (t) => {
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
});

browserTest("signing out everywhere ends other browsers too", async (t) => {
  const gateway = await startTestGateway(t);
  const other = await openSignedIn(t, { browser: browser(), gateway });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/account" });
  await page.getByRole("button", { name: "Sign out everywhere" }).click();
  await assertAccessible(t, page);
  await page.getByRole("dialog").getByRole("button", { name: "Sign out everywhere" }).click();
  await page.waitForURL("**/sign-in");
  await other.reload();
  await other.waitForURL("**/sign-in");
  t.is(await other.getByRole("heading").innerText(), "Sign in");
});

browserTest("a sign-in during an edit loses no input", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/account" });
  await page.getByLabel("Name").fill("Countess");
  await gateway.admin.auth.signOutEverywhere.mutate();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Sign in again" }).waitFor();
  await assertAccessible(t, page);
  await page.getByRole("dialog").getByLabel("Password").fill(administrator.password);
  await page.getByRole("dialog").getByRole("button", { name: "Sign in" }).click();
  // The console repeats the rejected call after the sign-in.
  await page.getByText("Name changed").waitFor();
  t.is(await page.getByLabel("Name").inputValue(), "Countess");
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

for (const to of ["//example.com/x", "/.//example.com/x", "http://"])
  browserTest(`an external address is not a valid destination: ${to}`, async (t) => {
    const gateway = await startTestGateway(t);
    const path = `/sign-in?to=${encodeURIComponent(to)}`;
    const page = await openConsole(t, { browser: browser(), gateway, path });
    await page.getByLabel("Email").fill(administrator.email);
    await page.getByLabel("Password").fill(administrator.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL((url) => url.pathname !== "/sign-in");
    t.is(new URL(page.url()).origin, gateway.url);
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
    for (const path of ["/nope", "/login", "/admin/keys"]) {
      loads = 0;
      await page.goto(path, { waitUntil: "networkidle" });
      await page.getByRole("heading", { name: "Page not found" }).waitFor();
      t.is(loads, 1, path);
      t.is(new URL(page.url()).pathname, path);
    }
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
