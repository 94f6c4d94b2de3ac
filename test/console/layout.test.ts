import { inflateSync } from "node:zlib";
import test, { type ExecutionContext } from "ava";
import { addModels } from "../helpers/add-models.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import {
  becomePerson,
  type ConsolePage,
  openConsole,
  openSignedIn,
  shareBrowser,
  visit,
} from "../helpers/chromium.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { administrator, createKey, startTestGateway } from "../helpers/test-gateway.ts";
import { addNamedModels } from "./add-named-models.ts";

// On some systems, scrollbars take up space. Playwright hides scrollbars in headless browsers by default.
const browser = shareBrowser(test, { ignoreDefaultArgs: ["--hide-scrollbars"] });

const viewport = { width: 360, height: 780 };

browserTest("a phone scrolls tabs into view, covers no code and wraps tables between words", async (t) => {
  const gateway = await startTestGateway(t);
  const { id, value } = await createKey(gateway);
  const path = `/keys/${id}?tab=usage`;
  const page = await openSignedIn(t, { browser: browser(), gateway, path, viewport });
  await page.getByRole("heading", { name: "No requests" }).waitFor();
  const tabs = page.getByRole("navigation", { name: "Key sections" });
  const tab = await tabs.getByRole("link", { name: "Usage" }).boundingBox();
  t.true((tab?.x ?? 999) + (tab?.width ?? 999) <= 360, JSON.stringify(tab));
  t.is(await page.evaluate("scrollY"), 0, "nothing but the strip was scrolled");

  await tabs.getByRole("link", { name: "Snippets" }).click();
  const code = await page.getByRole("region", { name: "curl snippet" }).boundingBox();
  const copy = await page.getByRole("button", { name: "Copy curl snippet" }).boundingBox();
  t.true((code?.x ?? 999) + (code?.width ?? 999) <= (copy?.x ?? 0), "beside the code");
  await assertAccessible(t, page);

  await postChat(gateway, value, chatBody("nobody/nothing"));
  await gateway.services.recorder.flush();
  await visit(page, "/models");
  const table = page.getByRole("region", { name: "Models" });
  await table.waitFor();
  t.true(await table.evaluate((element) => element.scrollWidth <= element.clientWidth));

  await visit(page, "/requests");
  const cell = page.getByRole("cell", { name: "Failed model_not_found" });
  await cell.waitFor();
  t.is(await cell.locator("wbr").count(), 2);
  await assertAccessible(t, page);
});

browserTest("tables fit tablets and laptops, and keep the actions of each row in view", async (t) => {
  const gateway = await startTestGateway(t);
  const { id, value } = await createKey(gateway);
  await postChat(gateway, value, chatBody("demo/echo"));
  await gateway.services.recorder.flush();
  await gateway.admin.keys.rename.mutate({ id, name: "Continuous integration of the website" });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/usage" });
  for (const path of ["/keys", "/models", "/people", "/providers", "/audit-log", "/requests"]) {
    await visit(page, path);
    const table = page.locator("[role=region]:has(table)");
    await table.waitFor();
    for (const width of [1440, 1280, 1024, 768]) {
      await page.setViewportSize({ width, height: 900 });
      const fits = () => table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth);
      t.true(await eventually(fits), `${path} at ${width} px`);
    }
  }
});

browserTest("a dialog covers the page and moves nothing where scrollbars take room", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await createKey(gateway);
  for (const colorScheme of ["light", "dark"] as const) {
    // The height is low enough for the page to need a scrollbar.
    const viewport = { width: 1280, height: 360 };
    const options = { browser: browser(), gateway, path: `/keys/${id}`, colorScheme, viewport };
    const page = await openSignedIn(t, options);
    // An element at the right edge moves if the width changes.
    const opener = page.getByRole("button", { name: "Deactivate", includeHidden: true }).first();
    await opener.waitFor();
    const tabs = `document.querySelector('[aria-label="Key sections"]')`;
    t.is(await page.evaluate(`${tabs}.offsetWidth - ${tabs}.clientWidth`), 0, "tabs have no scrollbar");
    const before = await opener.boundingBox();
    t.truthy(before);
    const right = await page.evaluate<number>("innerWidth");
    t.true((await page.evaluate<number>("document.documentElement.clientWidth")) < right, "it has one");
    const redAt = async (x: number) =>
      readRed(await page.screenshot({ clip: { x, y: 5, width: 1, height: 1 } }));
    await opener.click();
    await page.getByRole("dialog").waitFor();
    const [edge, beside] = [await redAt(right - 3), await redAt(right - 20)];
    // Rounding may change a color value by one.
    t.true(Math.abs(edge - beside) <= 1, `${colorScheme}: ${edge} beside ${beside}`);
    t.is((await opener.boundingBox())?.x, before?.x);
  }
});

/** Returns the red value of an image's first pixel, from 0 to 255. https://www.w3.org/TR/png-3/ */
function readRed(png: Buffer): number {
  const pixels: Buffer[] = [];
  for (let at = 8; at < png.length; at += png.readUInt32BE(at) + 12) {
    const type = png.toString("latin1", at + 4, at + 8);
    if (type === "IDAT") pixels.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  // Each line starts with its filter type. No filter changes the first pixel of an image.
  return inflateSync(Buffer.concat(pixels)).readUInt8(1);
}

const isOverlay = /\/_app\/.*\/chunks\//;

/** Opens the keys of a new gateway. The browser is never idle, so the menus are not loaded yet. */
async function openBusy(t: ExecutionContext): Promise<ConsolePage> {
  const gateway = await startTestGateway(t);
  await createKey(gateway);
  const page = await openConsole(t, { browser: browser(), gateway, path: null });
  await page.addInitScript(
    "globalThis.idleCallbacks = []; globalThis.requestIdleCallback = (callback) => idleCallbacks.push(callback)",
  );
  const { email, password } = administrator;
  await page.request.post("/trpc/auth.signIn", { data: { email, password } });
  await page.goto("/keys", { waitUntil: "networkidle" });
  return page;
}

browserTest("a select and a menu open by keyboard on their first use and return the focus", async (t) => {
  const page = await openBusy(t);
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

  // The background of a dialog does not repeat the text of a loading page.
  await page.getByRole("button", { name: "Actions for Test key" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("alertdialog").or(page.getByRole("dialog")).waitFor();
  const texts = await page.evaluate<string[]>(
    `[...document.querySelectorAll("body > div")].map((each) => getComputedStyle(each, "::before").content)`,
  );
  t.true(texts.length > 1);
  t.deepEqual([...new Set(texts)], ["none"]);
});

browserTest("a combobox keeps every letter that is typed while it loads", async (t) => {
  const page = await openBusy(t);
  const open = Promise.withResolvers<void>();
  await page.route(isOverlay, (route) => open.promise.then(() => route.continue()));
  const field = page.getByRole("combobox", { name: "Model" });
  await field.focus();
  await field.press("ControlOrMeta+a");
  await page.keyboard.type("demo");
  open.resolve();
  await page.getByRole("option", { name: "demo/echo" }).waitFor();
  await page.keyboard.type("/e");
  t.is(await field.inputValue(), "demo/e");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/keys?model=demo%2Fecho");
});

browserTest("a menu that cannot load reports it and opens once the gateway is back", async (t) => {
  const page = await openBusy(t);
  await page.route(isOverlay, (route) => route.abort());
  const menu = page.getByRole("button", { name: "Actions for Test key" });
  await Promise.all([page.waitForEvent("requestfailed"), menu.click()]);
  await page.unroute(isOverlay);
  // The first idle callback loads the component that shows the error.
  await page.evaluate("idleCallbacks[0]()");
  await page.getByText("Couldn't load the control").waitFor();
  await menu.click();
  await page.getByRole("menuitem", { name: "Delete" }).waitFor();
  t.pass();
});

browserTest("a dialog opened by mouse focuses its field, and a confirmation Cancel", async (t) => {
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

  await page.getByRole("button", { name: "Deactivate" }).click();
  const confirmation = page.getByRole("dialog", { name: "Deactivate Test key?" });
  await confirmation.locator(":focus").waitFor();
  t.is(await confirmation.locator(":focus").innerText(), "Cancel");
  await page.keyboard.press("Space");
  await confirmation.waitFor({ state: "detached" });
  t.is((await gateway.admin.keys.get.query({ id })).status, "active");

  await page.goto("/people");
  await page.getByRole("button", { name: "Invite" }).click();
  const invitation = page.getByRole("dialog", { name: "Invite person" });
  await invitation.locator(":focus").waitFor();
  await page.keyboard.type("Grace Hopper");
  t.is(await invitation.getByLabel("Name").inputValue(), "Grace Hopper");
});

const focused = "document.activeElement.ariaLabel ?? document.activeElement.id";

browserTest("keys are searched, filtered and paged, and the URL keeps the state", async (t) => {
  const gateway = await startTestGateway(t);
  for (let number = 0; number < 60; number++)
    await gateway.admin.keys.create.mutate({ name: `Key ${number}` });
  const { key } = await gateway.admin.keys.create.mutate({ name: "Laptop" });
  await gateway.admin.keys.deactivate.mutate({ id: key.id });

  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  await page.getByRole("link", { name: "Laptop" }).waitFor();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("link", { name: "Key 0", exact: true }).waitFor();
  t.regex(page.url(), /\?after=key_/);
  await page.goBack();
  await page.getByRole("link", { name: "Laptop" }).waitFor();

  await page.getByRole("searchbox").fill("lap");
  await page.getByRole("link", { name: "Key 59" }).waitFor({ state: "detached" });
  t.is(new URL(page.url()).search, "?search=lap");
  await page.reload();
  await page.getByRole("link", { name: "Laptop" }).waitFor();
  t.is(await page.getByRole("searchbox").inputValue(), "lap");
  await page.getByLabel("Status").click();
  await page.getByRole("option", { name: "Deactivated (1)" }).waitFor();
  await page.getByRole("option", { name: "Active (0)" }).click();
  await page.getByText("No keys match").waitFor();
  await page.getByRole("link", { name: "Clear filters" }).click();
  await page.getByRole("link", { name: "Laptop" }).waitFor();
  t.is(await page.getByRole("searchbox").inputValue(), "");
  await page.getByText("Any status (62)").waitFor();
});

browserTest("the model filter finds the keys that may use it", async (t) => {
  const gateway = await startTestGateway(t);
  const slugs = await addModels(gateway, "many", 120);
  await gateway.admin.keys.create.mutate({ name: "Few", models: slugs.slice(0, 2) });
  await gateway.admin.keys.create.mutate({ name: "Many", models: slugs });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  await page.getByText("and 118 more").waitFor();
  await page.getByRole("combobox", { name: "Model" }).click();
  await page.getByText("Type to filter.").waitFor();
  await assertAccessible(t, page);
  await page.getByRole("combobox", { name: "Model" }).fill("model-77");
  await page.getByRole("option", { name: "many/model-77" }).click();
  await page.getByRole("link", { name: "Few" }).waitFor({ state: "detached" });
  t.is(new URL(page.url()).search, "?model=many%2Fmodel-77");
  await page.getByText("Any status (1)").waitFor();
  await page.reload();
  await page.getByRole("link", { name: "Many" }).waitFor();
  t.is(await page.getByRole("combobox", { name: "Model" }).inputValue(), "many/model-77");
  await page.getByRole("combobox", { name: "Model" }).fill("any");
  await page.getByRole("option", { name: "Any model" }).click();
  await page.getByRole("link", { name: "Few" }).waitFor();
  t.is(new URL(page.url()).search, "");
});

browserTest("the row menu deactivates, activates, copies the id, deletes and keeps focus", async (t) => {
  const gateway = await startTestGateway(t);
  const { id, value } = await createKey(gateway);
  const status = async () => (await postChat(gateway, value, chatBody("demo/echo"))).status;
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  const row = page.getByRole("row").filter({ hasText: "Test key" });
  const choose = async (item: string) => {
    await row.getByRole("button", { name: "Actions for Test key" }).press("Enter");
    await page.getByRole("menuitem", { name: item }).press("Enter");
  };
  await choose("Copy ID");
  await page.getByText("ID copied").waitFor();
  t.is(await page.evaluate("navigator.clipboard.readText()"), id);

  await choose("Deactivate");
  await page.getByRole("dialog").getByRole("button", { name: "Deactivate" }).press("Enter");
  await row.getByText("Deactivated").waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  t.is(await page.evaluate(focused), "Actions for Test key");
  t.is(await status(), 401);
  await choose("Activate");
  await row.getByText("Active").waitFor();
  t.is(await status(), 200);

  await choose("Delete");
  await page.getByLabel("Type Test key to confirm").fill("Test key");
  await assertAccessible(t, page);
  await page.keyboard.press("Enter");
  await row.waitFor({ state: "detached" });
  await page.getByRole("dialog").waitFor({ state: "detached" });
  t.is(await page.evaluate(focused), "main");
  t.is(await status(), 401);
});

browserTest("administrators filter keys by owner, and members see only their own", async (t) => {
  const gateway = await startTestGateway(t);
  await createKey(gateway);
  const grace = await addPerson(gateway, "grace@example.com");
  await grace.console.keys.create.mutate({ name: "Hers" });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  await page.getByRole("cell", { name: "Ada" }).waitFor();
  await page.goto(`/keys?owner=${grace.id}`);
  await page.getByRole("link", { name: "Hers" }).waitFor();
  t.is(await page.getByRole("link", { name: "Test key" }).count(), 0);
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Clear owner filter:" }).click();
  await page.getByRole("link", { name: "Test key" }).waitFor();

  const theirs = await openSignedIn(t, { browser: browser(), gateway, path: "/keys", ...grace });
  await theirs.getByRole("link", { name: "Hers" }).waitFor();
  t.is(await theirs.getByRole("link", { name: "Test key" }).count(), 0);
  t.is(await theirs.getByRole("columnheader", { name: "Owner" }).count(), 0);
});

browserTest("models are searched, filtered and paged, and the URL keeps the state", async (t) => {
  const gateway = await startTestGateway(t);
  const models = Array.from({ length: 60 }, (_, number) => `model-${100 + number}`);
  await addNamedModels(gateway, "many", models);
  await addNamedModels(gateway, "few", ["gpt-4o"], "openai");
  await gateway.admin.keys.create.mutate({ name: "Laptop", models: ["few/gpt-4o"] });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/models" });
  const row = page.getByRole("row", { name: /few\/gpt-4o/ });
  await row.waitFor();
  const cells = ["few/gpt-4o", "gpt-4o", "128K", "$2.50", "$1.25", "$10.00", "1"];
  t.deepEqual(await row.getByRole("cell").allInnerTexts(), cells);
  const unknown = page.getByRole("row", { name: /many\/model-100/ });
  t.is(await unknown.getByText("unknown", { exact: true }).count(), 4);
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("link", { name: "many/model-159" }).waitFor();
  t.regex(page.url(), /\?after=many%2Fmodel-/);
  await page.goBack();
  await row.waitFor();

  // A search starts at the first page.
  await page.goForward();
  const last = page.getByRole("link", { name: "many/model-159" });
  await last.waitFor();
  await page.getByRole("searchbox").fill("model-12");
  await last.waitFor({ state: "detached" });
  t.is(new URL(page.url()).search, "?search=model-12");
  await page.reload();
  await page.getByRole("link", { name: "many/model-129" }).waitFor();
  await page.getByRole("combobox", { name: "Provider" }).click();
  await page.getByRole("combobox", { name: "Provider" }).fill("fe");
  await page.getByRole("option", { name: "few" }).click();
  await page.getByText("No models match").waitFor();
  await page.getByRole("link", { name: "Clear filters" }).click();
  await row.waitFor();
});

browserTest("a member sees models and prices read-only, and who has none reads what to do", async (t) => {
  const gateway = await startTestGateway(t);
  await addNamedModels(gateway, "few", ["gpt-4o", "spare"], "openai");
  await gateway.admin.models.update.mutate({ slug: "few/gpt-4o", fallbacks: ["few/spare", "demo/echo"] });
  await gateway.admin.keys.create.mutate({ name: "Not a member's", models: ["few/gpt-4o"] });
  const member = await addPerson(gateway, "member@example.com");
  await member.console.keys.create.mutate({ name: "My own", models: ["few/gpt-4o"] });
  const { email, password } = member;
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/models", email, password });
  await page.getByRole("link", { name: "few/gpt-4o" }).waitFor();
  t.is(await page.getByRole("link", { name: "Add manually" }).count(), 0);
  await page.getByRole("combobox", { name: "Provider" }).click();
  await page.getByRole("option", { name: "few" }).click();
  await page.getByRole("link", { name: "demo/echo" }).waitFor({ state: "detached" });
  await assertAccessible(t, page);
  await page.getByRole("link", { name: "few/gpt-4o" }).click();
  await page.getByText("128,000 tokens").waitFor();
  await page.getByText("$2.50").waitFor();
  await page.getByRole("link", { name: "few/spare" }).waitFor();
  await page.getByRole("link", { name: "My own" }).waitFor();
  t.is(await page.getByText("Not a member's").count(), 0);
  t.is(await page.getByRole("textbox").count(), 0);
  t.is(await page.getByRole("button", { name: /Delete|Save/ }).count(), 0);
  await assertAccessible(t, page);
  await page.reload();
  await page.getByRole("heading", { name: "few/gpt-4o" }).waitFor();

  for (const { slug } of await gateway.admin.models.list.query())
    await gateway.admin.models.delete.mutate({ slug });
  await becomePerson(page, administrator, "/models");
  await page.getByText("No models yet").waitFor();
  await assertAccessible(t, page);
  await page.getByRole("link", { name: "Add provider" }).click();
  await page.waitForURL("**/providers/new");
});
