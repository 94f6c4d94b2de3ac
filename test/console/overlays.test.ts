import test, { type ExecutionContext } from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { type ConsolePage, openConsole, openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { administrator, createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);
const isOverlay = /\/_app\/.*\/chunks\//;

/** A page whose menus are not loaded yet, because the browser is never idle. */
async function openBusy(t: ExecutionContext, gateway: TestGateway, path: string): Promise<ConsolePage> {
  const page = await openConsole(t, { browser: browser(), gateway, path: null });
  await page.addInitScript("globalThis.requestIdleCallback = () => 0");
  const { email, password } = administrator;
  await page.request.post("/trpc/auth.signIn", { data: { email, password } });
  await page.goto(path, { waitUntil: "networkidle" });
  return page;
}

browserTest("a select and a menu open by keyboard on their first use and return the focus", async (t) => {
  const gateway = await startTestGateway(t);
  await createKey(gateway);
  const page = await openBusy(t, gateway, "/keys");
  const status = page.getByRole("combobox", { name: "Status" });
  await status.focus();
  await page.keyboard.press("ArrowDown");
  await page.getByRole("option", { name: "Active", exact: false }).first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/keys?status=active");
  await page.locator("[role=combobox]:focus").and(status).waitFor();

  const menu = page.getByRole("button", { name: "Actions for Test key" });
  await menu.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Delete" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("menuitem", { name: "Delete" }).waitFor({ state: "detached" });
  await page.locator("button:focus").and(menu).waitFor();
  t.pass();
});

browserTest("a combobox keeps every letter that is typed while it loads", async (t) => {
  const gateway = await startTestGateway(t);
  await createKey(gateway);
  const page = await openBusy(t, gateway, "/keys");
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(isOverlay, async (route) => {
    await released;
    await route.continue();
  });
  const field = page.getByRole("combobox", { name: "Model" });
  await field.focus();
  await field.press("ControlOrMeta+a");
  await page.keyboard.type("demo");
  release();
  await page.getByRole("option", { name: "demo/echo" }).waitFor();
  await page.keyboard.type("/e");
  t.is(await field.inputValue(), "demo/e");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/keys?model=demo%2Fecho");
});

browserTest("a menu that cannot load reports it and opens once the gateway is back", async (t) => {
  const gateway = await startTestGateway(t);
  await createKey(gateway);
  const page = await openBusy(t, gateway, "/keys");
  await page.route(isOverlay, (route) => route.abort());
  const menu = page.getByRole("button", { name: "Actions for Test key" });
  await menu.click();
  await page.unroute(isOverlay);
  await menu.click();
  await page.getByRole("menuitem", { name: "Delete" }).waitFor();
  t.pass();
});

browserTest("the background of a dialog does not repeat the text of a loading page", async (t) => {
  const gateway = await startTestGateway(t);
  await createKey(gateway);
  const page = await openBusy(t, gateway, "/keys");
  await page.getByRole("button", { name: "Actions for Test key" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("alertdialog").or(page.getByRole("dialog")).waitFor();
  const texts = await page.evaluate<string[]>(
    `[...document.querySelectorAll("body > div")].map((each) => getComputedStyle(each, "::before").content)`,
  );
  t.true(texts.length > 1);
  t.deepEqual([...new Set(texts)], ["none"]);
});

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
