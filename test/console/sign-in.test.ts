import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openConsole, openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { administrator, startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

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
