import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import test from "ava";
import { addModels } from "../helpers/add-models.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { becomePerson, type ConsolePage, openSignedIn, shareBrowser, visit } from "../helpers/chromium.ts";
import { eventually } from "../helpers/eventually.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { hostileNames } from "../helpers/hostile-names.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";
import { choose, closeDialog } from "./console-actions.ts";

const browser = shareBrowser(test);

browserTest("a key is created by keyboard alone, out of 500 models", async (t) => {
  const gateway = await startTestGateway(t);
  await addModels(gateway, "first", 250);
  await addModels(gateway, "second", 250);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys/new" });
  await page.getByText("0 of 501 selected").waitFor();
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };

  await page.getByLabel("Name").focus();
  await page.keyboard.type("Ada's laptop");
  await press("Tab");
  await page.keyboard.type("echo");
  await press("ArrowDown", "Tab", "Space");
  await page.getByText("1 of 501 selected").waitFor();
  t.true(await page.getByRole("checkbox", { name: "demo/echo" }).isChecked());

  await press("Shift+Tab", "Shift+Tab", "Shift+Tab", "Shift+Tab");
  // This search matches 13 models: second/model-17, -117, -170 to -179 and -217.
  await page.keyboard.type("SECOND 17");
  await page.getByText("0 selected, 13 of 250 shown").waitFor();
  await press("Enter", "Space");
  await page.getByText("14 of 501 selected").waitFor();
  await press("End", "Enter");
  await page.getByText("13 of 501 selected").waitFor();
  await press("Home", "PageDown", "ArrowUp");
  t.is(await page.evaluate("document.activeElement.ariaLabel"), "second/model-176");

  // Clearing the search keeps the selection and does not submit the form.
  await press("Home", "Shift+Tab", "Shift+Tab", "Shift+Tab", "Escape");
  await page.getByRole("checkbox", { name: "All models of first" }).waitFor();
  await page.getByRole("button", { name: "Show selected" }).press("Enter");
  t.is(await page.getByRole("checkbox").count(), 13 + 2);
  await page.getByRole("button", { name: "Create key" }).press("Enter");

  await page.getByRole("heading", { name: "Key Ada's laptop created" }).waitFor();
  const { items } = await gateway.admin.keys.list.query();
  t.is(items[0]?.name, "Ada's laptop");
  t.is(items[0]?.models.length, 13);
  t.is(items[0]?.owner?.name, "Ada");
  t.is(items[0]?.expiresAt, null);
});

browserTest("the value is shown once, and a key expires as chosen for the chosen owner", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  await page.getByRole("link", { name: "Create key" }).click();
  await page.getByRole("heading", { name: "Create key" }).waitFor();
  await page.getByLabel("Name").fill("Night build");
  await page.getByRole("checkbox", { name: "All models of demo" }).check();
  await assertAccessible(t, page);
  await page.getByRole("link", { name: "Cancel" }).click();
  const guard = page.getByRole("dialog", { name: "Discard changes?" });
  await guard.getByRole("button", { name: "Stay" }).click();
  t.is(await page.getByLabel("Name").inputValue(), "Night build");
  await page.getByRole("button", { name: "Create key" }).click();

  const dialog = page.getByRole("dialog", { name: "Key Night build created" });
  await dialog.getByText("it cannot be shown again").waitFor();
  await assertAccessible(t, page);
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 5);
  await page.evaluate("history.back()");
  await dialog.getByRole("tab", { name: "Python" }).click();
  t.true(await dialog.isVisible());
  t.regex(page.url(), /\/keys\/new$/);

  await dialog.getByRole("button", { name: "Copy key" }).click();
  const value = await page.evaluate<string>("navigator.clipboard.readText()");
  t.regex(value, /^sk-gateway-\w{40,}$/);
  t.is(await statusOf(gateway, value), 200);
  const snippets = dialog.getByRole("region", { name: "Snippets" }).getByRole("tabpanel");
  t.true((await snippets.innerText()).includes(value));

  await dialog.getByRole("button", { name: "Done", exact: true }).click();
  await page.getByRole("heading", { name: "Night build", exact: true }).waitFor();
  t.regex(page.url(), /\/keys\/key_\w+$/);
  t.false((await page.content()).includes(value));
  t.true((await page.content()).includes(`sk-gateway-…${value.slice(-4)}`));
  await page.goBack();
  await page.getByRole("heading", { name: "API keys" }).waitFor();

  const grace = await addPerson(gateway, "grace@example.com");
  await visit(page, "/keys/new");
  const beganAt = Date.now();
  await page.getByLabel("Name").fill("For a month");
  await choose(page, "Expires", "In 30 days");
  await page.getByText("Expires on").waitFor();
  await page.getByRole("combobox", { name: "Owner" }).fill("grace");
  await page.getByRole("option", { name: "grace@example.com" }).click();
  await page.getByRole("button", { name: "Create key" }).click();
  const name = "Key For a month created, but no models are connected";
  const unconnected = page.getByRole("dialog", { name });
  await unconnected.getByText("Connect at least one model before using this key").waitFor();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Done", exact: true }).click();
  await page.getByText("in 30 days", { exact: true }).waitFor();
  const [month] = (await grace.console.keys.list.query()).items;
  t.is(month?.owner?.id, grace.id);
  const createdAt = Date.parse(month?.expiresAt ?? "") - 30 * 86_400_000;
  t.true(createdAt > beganAt - 60_000 && createdAt < Date.now() + 60_000);

  await visit(page, "/keys/new");
  await page.getByLabel("Name").fill("To the end of the year");
  await choose(page, "Expires", "Custom date");
  await page.getByLabel("Last day").fill("2020-02-29");
  await page.getByRole("button", { name: "Create key" }).click();
  t.true(await page.getByLabel("Last day").evaluate((input) => input.matches(":invalid")));
  await page.getByLabel("Last day").fill("2090-12-31");
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("This key has no limits of its own.").waitFor();
  await page.getByRole("button", { name: "Set limits" }).click();
  await page.getByLabel("Daily budget").waitFor();
  const [year] = (await gateway.admin.keys.list.query()).items;
  const lastMoment = new Date(year?.expiresAt ?? "");
  const localDay = await page.evaluate<string>(`new Date(${lastMoment.getTime()}).toString()`);
  t.regex(localDay, /Dec 31 2090 23:59:59/);
});

browserTest("errors appear beside their fields, and a member reads what to do without models", async (t) => {
  const gateway = await startTestGateway(t);
  const [gone = "", stays = ""] = await addModels(gateway, "first", 2);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys/new" });
  await page.getByRole("button", { name: "Create key" }).click();
  t.true(await page.getByLabel("Name").evaluate((input) => input.matches(":invalid")));
  await page.getByLabel("Name").fill("   ");
  await page.getByRole("button", { name: "Create key" }).click();
  const name = page.getByRole("textbox", { name: "Name" });
  await page.getByText("The name is empty. Enter a name.").waitFor();
  t.is(await name.getAttribute("aria-invalid"), "true");
  await assertAccessible(t, page);

  await name.fill("W".repeat(300));
  t.is((await name.inputValue()).length, 255, "the field takes no more");
  await name.fill("Good");
  await page.getByRole("checkbox", { name: "All models of first" }).check();
  await gateway.admin.models.delete.mutate({ slug: gone });
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText(`These models do not exist: ${gone}`).waitFor();
  await page.getByText("1 of 2 selected").waitFor();
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("heading", { name: "Key Good created" }).waitFor();
  t.deepEqual((await gateway.admin.keys.list.query()).items[0]?.models, [stays]);
  await page.getByRole("button", { name: "Done", exact: true }).click();

  const grace = await addPerson(gateway, "grace@example.com");
  for (const slug of [stays, "demo/echo"]) await gateway.admin.models.delete.mutate({ slug });
  await becomePerson(page, grace, "/keys/new");
  await page.getByText("Ask an administrator to add models").waitFor();
  t.is(await page.getByRole("combobox", { name: "Owner" }).count(), 0);
  await assertAccessible(t, page);
  await page.getByLabel("Name").fill("Hers");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("button", { name: "Done", exact: true }).click();
  await page.getByText("Connect at least one model").waitFor();
  t.is((await grace.console.keys.list.query()).items[0]?.owner?.id, grace.id);
});

const statusOf = async (gateway: TestGateway, value: string) =>
  (await postChat(gateway, value, chatBody("demo/echo"))).status;

const run = promisify(execFile);

const focused = "document.activeElement.ariaLabel ?? document.activeElement.innerText";

browserTest("a key is renamed, rotated, deactivated and deleted, and keeps its usage", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}` });
  await page.getByRole("heading", { name: "Test key" }).waitFor();
  await assertAccessible(t, page);
  const rename = page.getByRole("button", { name: "Rename" });
  await rename.press("Enter");
  await page.keyboard.type("Not this");
  await assertAccessible(t, page);
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "Test key" }).waitFor();
  t.is(await page.evaluate(focused), "Rename");

  await page.keyboard.press("Enter");
  await page.keyboard.type("  Ada & Söhne 🔑 ");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Ada & Söhne 🔑" }).waitFor();
  t.is(await page.evaluate(focused), "Rename");
  t.is(await page.title(), "Ada & Söhne 🔑 · Model Gateway");
  t.is((await gateway.admin.keys.get.query({ id })).name, "Ada & Söhne 🔑");

  const rotated = await createKey(gateway);
  await visit(page, `/keys/${rotated.id}`);
  const statuses = (...values: string[]) => Promise.all(values.map((each) => statusOf(gateway, each)));
  const rotate = async (overlap: string, said: string) => {
    await page.getByRole("button", { name: "Rotate", exact: true }).click();
    await choose(page, "Old value expires", overlap);
    await page.getByRole("button", { name: "Rotate key" }).click();
    const dialog = page.getByRole("dialog", { name: "New value of Test key" });
    await dialog.getByText(said).waitFor();
    await page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "Copy key" }).click();
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });
    return page.evaluate<string>("navigator.clipboard.readText()");
  };

  await page.getByRole("button", { name: "Rotate", exact: true }).click();
  await page.getByText("both values are valid").waitFor();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Cancel" }).click();
  const second = await rotate("In 24 hours", "expires on");
  t.deepEqual(await statuses(rotated.value, second), [200, 200]);
  await page.getByText(`sk-gateway-…${second.slice(-4)}`).waitFor();
  await page.getByRole("term").filter({ hasText: "Old value expires" }).waitFor();
  const third = await rotate("Immediately", "has expired");
  t.deepEqual(await statuses(rotated.value, second, third), [401, 401, 200]);
  t.is(await page.getByRole("term").filter({ hasText: "Old value expires" }).count(), 0);

  const paused = await createKey(gateway);
  await visit(page, `/keys/${paused.id}`);
  await page.getByRole("button", { name: "Deactivate" }).click();
  const dialog = page.getByRole("dialog", { name: "Deactivate Test key?" });
  await dialog.waitFor();
  await assertAccessible(t, page);
  t.is(await statusOf(gateway, paused.value), 200);
  await dialog.getByRole("button", { name: "Deactivate" }).click();
  await page.getByText("This key is deactivated.").waitFor();
  t.is(await statusOf(gateway, paused.value), 401);
  await assertAccessible(t, page);
  await dialog.waitFor({ state: "detached" });
  const activate = page.getByRole("button", { name: "Activate", exact: true });
  t.is(await activate.count(), 1, "there is one place for it");
  t.is(await page.evaluate(focused), "Activate");
  await page.keyboard.press("Enter");
  await page.getByText("This key is deactivated.").waitFor({ state: "detached" });
  t.is(await statusOf(gateway, paused.value), 200);

  const deleted = await createKey(gateway);
  t.is(await statusOf(gateway, deleted.value), 200);
  await visit(page, `/keys/${deleted.id}`);
  await page.getByRole("button", { name: "Key actions" }).press("Enter");
  await page.getByRole("menuitem", { name: "Copy ID" }).press("Enter");
  await page.getByText("ID copied").waitFor();
  t.is(await page.evaluate("navigator.clipboard.readText()"), deleted.id);
  t.is(await page.evaluate(focused), "Key actions");

  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const deletion = page.getByRole("dialog", { name: "Delete Test key?" });
  await deletion.getByText("stays in the history").waitFor();
  await assertAccessible(t, page);
  const button = deletion.getByRole("button", { name: "Delete key" });
  t.true(await button.isDisabled());
  await closeDialog(page, deletion);
  t.is(await page.evaluate(focused), "Key actions");

  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await deletion.getByLabel("Type Test key to confirm").fill("Test key");
  // The message disappears after some seconds.
  await Promise.all([page.getByText("Key deleted").waitFor(), button.click()]);
  await page.waitForURL("**/keys");
  t.is(await page.getByRole("link", { name: "Test key" }).count(), 2, "the others stay");
  t.is(await statusOf(gateway, deleted.value), 401);
  t.is((await usageOf(gateway, deleted.id)).length, 1);
  await visit(page, `/keys/${deleted.id}`);
  await page.getByRole("heading", { name: "This key does not exist" }).waitFor();
  await assertAccessible(t, page);
});

browserTest("the snippets work as copied", async (t) => {
  const gateway = await startTestGateway(t);
  const slugs = await addModels(gateway, "many", 3);
  const { id, value } = await createKey(gateway, [...slugs, "demo/echo"]);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}` });
  await page.getByRole("link", { name: "Snippets" }).click();
  await assertAccessible(t, page);
  t.regex(await page.getByRole("tabpanel").innerText(), /"model":"demo\/echo"/);
  await page.getByRole("combobox", { name: "Model" }).fill("model-2");
  await page.getByRole("option", { name: "many/model-2" }).click();
  t.regex(await page.getByRole("tabpanel").innerText(), /"model":"many\/model-2"/);
  await page.getByRole("combobox", { name: "Model" }).click();
  await page.getByRole("option", { name: "demo/echo" }).click();

  const folder = await createTestFolder(t);
  const copy = async (language: string) => {
    await page.getByRole("tab", { name: language }).click();
    await page.getByRole("button", { name: `Copy ${language} snippet` }).click();
    return page.evaluate<string>("navigator.clipboard.readText()");
  };
  const env = { ...process.env, GATEWAY_API_KEY: value };
  const shell = await run("sh", ["-c", await copy("curl")], { env });
  t.regex(shell.stdout, /"content":"Hello, gateway!"/);

  const selected = (name: string) =>
    page.locator(`[role="tab"][aria-selected="true"]:focus`, { hasText: name });
  await page.getByRole("tab", { name: "curl" }).press("ArrowLeft");
  await selected("Node.js").press("ArrowRight");
  await selected("curl").press("End");
  await selected("Node.js").waitFor();

  const node = await copy("Node.js");
  t.regex(page.url(), /\?tab=snippets&language=node$/);
  // Node resolves the `openai` package from the script's folder.
  const script = path.join(import.meta.dirname, `../../node_modules/.snippet-${id}.mjs`);
  t.teardown(() => run("rm", ["-f", script]));
  writeFileSync(script, node);
  t.is((await run(process.execPath, [script], { env })).stdout, "Hello, gateway!\n");

  writeFileSync(path.join(folder, "snippet.py"), await copy("Python"));
  await run("python3", ["-m", "py_compile", path.join(folder, "snippet.py")]);
  await page.reload();
  await page.getByRole("tab", { name: "Python", selected: true }).waitFor();
});

browserTest("Back restores the scroll position of a key's tabs", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await createKey(gateway);
  const viewport = { width: 360, height: 780 };
  const page = await openSignedIn(t, { browser: browser(), gateway, viewport });
  for (const [tab, last] of [
    ["setup", page.getByText("Without download")],
    ["limits", page.getByRole("button", { name: "Save limits" })],
  ] as const) {
    await page.goto(`/keys/${id}?tab=${tab}`);
    await last.waitFor();
    await page.evaluate("scrollTo(0, 900)");
    t.is(await page.evaluate("scrollY"), 900, tab);
    // `click` would scroll to the link first.
    await page.getByRole("link", { name: "API keys" }).dispatchEvent("click");
    await page.getByRole("heading", { name: "API keys" }).waitFor();
    await page.goBack();
    await last.waitFor();
    t.true(await eventually(async () => (await page.evaluate("scrollY")) === 900), tab);
  }
});

/** Collects every URL that the page shows or requests. */
function watchUrls(page: ConsolePage): string[] {
  const urls: string[] = [];
  page.on("framenavigated", (frame) => urls.push(frame.url()));
  page.on("request", (request) => urls.push(request.url(), request.headers()["referer"] ?? ""));
  return urls;
}

browserTest("an administrator pastes a leaked value and deactivates its key", async (t) => {
  const gateway = await startTestGateway(t);
  const grace = await addPerson(gateway, "grace@example.com");
  const { key, value } = await grace.console.keys.create.mutate({ name: "Leaked", models: ["demo/echo"] });
  await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys?search=test" });
  await page.getByRole("link", { name: "Test key" }).waitFor();
  const urls = watchUrls(page);

  const field = page.getByRole("searchbox", { name: "Search keys" });
  await page.evaluate((text) => navigator.clipboard.writeText(text), `KEY=${value}`);
  await field.selectText();
  await field.press("ControlOrMeta+v");
  const found = page.getByRole("region", { name: "Found keys" });
  await found.getByRole("link", { name: "Leaked" }).waitFor();
  t.is(await field.inputValue(), "", "the value leaves the field");
  t.is(new URL(page.url()).search, "");
  await page.getByRole("link", { name: "Test key" }).waitFor();
  await assertAccessible(t, page);

  await found.getByRole("button", { name: "Deactivate" }).press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: "Deactivate" }).press("Enter");
  await found.getByText("Deactivated by administrator").waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  t.is(await statusOf(gateway, value), 401);
  t.is(await page.evaluate("document.activeElement.textContent.trim()"), "Activate Leaked");
  await found.getByRole("button", { name: "Activate" }).click();
  await found.getByText("Active", { exact: true }).waitFor();

  const { value: next } = await gateway.admin.keys.rotate.mutate({ id: key.id, overlapSeconds: 3_600 });
  await field.fill(value);
  await found.getByText("Old value, valid until").waitFor();
  await field.fill(`${next.slice(0, -1)}${next.endsWith("0") ? "1" : "0"}`);
  await found.getByText("No key has this value").waitFor();
  await assertAccessible(t, page);
  await found.getByRole("button", { name: "Close found keys" }).click();
  await found.waitFor({ state: "detached" });

  await field.fill(next.slice(0, -8));
  await page.getByText("This is not a whole key value.").waitFor();
  await field.fill(next.slice(-4));
  await found.getByRole("link", { name: "Leaked" }).waitFor();
  await field.fill(key.id);
  await found.getByText("Key with this ID").waitFor();

  t.true(urls.length > 5);
  const [old = "", late = ""] = [value, next].map((each) => each.slice("sk-gateway-".length, -8));
  for (const seen of [urls.join("\n"), gateway.log.join("")])
    t.deepEqual(findLeaks(seen, { old, next: late }), []);
});

browserTest("selected keys are deactivated together, and the others stay active", async (t) => {
  const gateway = await startTestGateway(t);
  for (const name of ["One", "Two", "Three"]) await gateway.admin.keys.create.mutate({ name });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  const select = (name: string) => page.getByRole("checkbox", { name, exact: true });
  await select("Select all on this page").check();
  await page.getByText("4 selected").waitFor();
  await select("Select Three").press("Space");
  await page.getByText("3 selected").waitFor();
  await page.getByRole("button", { name: "Clear selection" }).press("Enter");
  t.is(await page.getByRole("checkbox", { checked: true }).count(), 0);
  t.is(await page.evaluate("document.activeElement.id"), "main");

  await select("Select One").check();
  await select("Select Two").check();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Deactivate" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Deactivate 2 keys?" });
  await dialog.getByText("Two, One").waitFor();
  await assertAccessible(t, page);
  await closeDialog(page, dialog);
  t.is(await page.getByRole("checkbox", { checked: true }).count(), 2, "still selected");
  await page.getByRole("button", { name: "Deactivate" }).press("Enter");
  await dialog.getByRole("button", { name: "Deactivate" }).press("Enter");
  await page.getByText("2 keys deactivated").waitFor();
  await dialog.waitFor({ state: "detached" });
  t.is(await page.getByRole("checkbox", { checked: true }).count(), 0);
  const { items } = await gateway.admin.keys.list.query();
  const disabled = items.flatMap(({ name, status }) => (status === "disabled" ? name : []));
  t.deepEqual(disabled, ["Two", "One"]);
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
