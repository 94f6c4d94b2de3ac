import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("a dialog opened by mouse focuses its field", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}` });
  await page.getByRole("button", { name: "Key actions" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete Test key?" });
  await dialog.locator(":focus").waitFor();
  await page.keyboard.type("Test key");
  t.is(await dialog.getByLabel("Type Test key to confirm").inputValue(), "Test key");
  await assertAccessible(t, page);
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });

  await page.goto("/people");
  await page.getByRole("button", { name: "Invite" }).click();
  const invitation = page.getByRole("dialog", { name: "Invite member" });
  await invitation.locator(":focus").waitFor();
  await page.keyboard.type("Grace Hopper");
  t.is(await invitation.getByLabel("Name").inputValue(), "Grace Hopper");
});

browserTest("a confirmation dialog focuses Cancel", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await createKey(gateway);
  const viewport = { width: 360, height: 780 };
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}`, viewport });
  await page.getByRole("button", { name: "Deactivate" }).click();
  const dialog = page.getByRole("dialog", { name: "Deactivate Test key?" });
  await dialog.locator(":focus").waitFor();
  t.is(await dialog.locator(":focus").innerText(), "Cancel");
  await page.keyboard.press("Space");
  await dialog.waitFor({ state: "detached" });
  t.is((await gateway.admin.keys.get.query({ id })).status, "active");
});
