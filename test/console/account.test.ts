import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openConsole, openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { administrator, startTestGateway } from "../helpers/test-gateway.ts";

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
  // The refused call waits for the sign-in and is then sent.
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
