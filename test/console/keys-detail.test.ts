import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import test from "ava";
import { addModels } from "../helpers/add-models.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { createKey, startTestGateway, usageOf } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);
const run = promisify(execFile);
const focused = "document.activeElement.ariaLabel ?? document.activeElement.innerText";

browserTest("a key is renamed in place by keyboard", async (t) => {
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
});

browserTest("deactivating and activating a key takes effect on its requests", async (t) => {
  const gateway = await startTestGateway(t);
  const { id, value } = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}` });
  const status = async () => (await postChat(gateway, value, chatBody("demo/echo"))).status;
  await page.getByRole("button", { name: "Deactivate" }).click();
  const dialog = page.getByRole("dialog", { name: "Deactivate Test key?" });
  await dialog.waitFor();
  await assertAccessible(t, page);
  t.is(await status(), 200);
  await dialog.getByRole("button", { name: "Deactivate" }).click();
  await page.getByText("This key is deactivated.").waitFor();
  t.is(await status(), 401);
  await assertAccessible(t, page);
  await dialog.waitFor({ state: "detached" });
  t.is(
    await page.getByRole("button", { name: "Activate", exact: true }).count(),
    1,
    "there is one place for it",
  );
  t.is(await page.evaluate(focused), "Activate");
  await page.keyboard.press("Enter");
  await page.getByText("This key is deactivated.").waitFor({ state: "detached" });
  t.is(await status(), 200);
});

browserTest("a key is deleted only by typing its name, and its usage stays", async (t) => {
  const gateway = await startTestGateway(t);
  const { id, value } = await createKey(gateway);
  t.is((await postChat(gateway, value, chatBody("demo/echo"))).status, 200);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}` });
  await page.getByRole("button", { name: "Key actions" }).press("Enter");
  await page.getByRole("menuitem", { name: "Copy ID" }).press("Enter");
  await page.getByText("ID copied").waitFor();
  t.is(await page.evaluate("navigator.clipboard.readText()"), id);
  t.is(await page.evaluate(focused), "Key actions");

  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete Test key?" });
  await dialog.getByText("stays in the history").waitFor();
  await assertAccessible(t, page);
  const button = dialog.getByRole("button", { name: "Delete key" });
  t.true(await button.isDisabled());
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  t.is(await page.evaluate(focused), "Key actions");

  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await dialog.getByLabel("Type Test key to confirm").fill("Test key");
  await button.click();
  await page.waitForURL("**/keys");
  await page.getByText("Key deleted").waitFor();
  t.is(await page.getByRole("link", { name: "Test key" }).count(), 0);
  t.is((await postChat(gateway, value, chatBody("demo/echo"))).status, 401);
  t.is((await usageOf(gateway, id)).length, 1);
  await page.goto(`/keys/${id}`);
  await page.getByRole("heading", { name: "This key does not exist" }).waitFor();
  await assertAccessible(t, page);
});

browserTest("a rotated key has a new value, and the old one expires as announced", async (t) => {
  const gateway = await startTestGateway(t);
  const { id, value } = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}` });
  const status = async (used: string) => (await postChat(gateway, used, chatBody("demo/echo"))).status;
  const rotate = async (overlap: string, said: string) => {
    await page.getByRole("button", { name: "Rotate", exact: true }).click();
    await page.getByLabel("Old value expires").click();
    await page.getByRole("option", { name: overlap }).click();
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
  t.deepEqual([await status(value), await status(second)], [200, 200]);
  await page.getByText(`sk-gateway-…${second.slice(-4)}`).waitFor();
  await page.getByRole("term").filter({ hasText: "Old value expires" }).waitFor();
  const third = await rotate("Immediately", "has expired");
  t.deepEqual([await status(value), await status(second), await status(third)], [401, 401, 200]);
  t.is(await page.getByRole("term").filter({ hasText: "Old value expires" }).count(), 0);
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

browserTest("a member cannot open another person's key", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await createKey(gateway);
  const grace = await addPerson(gateway, "grace@example.com");
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}`, ...grace });
  await page.getByRole("heading", { name: "This key does not exist" }).waitFor();
  await page.getByRole("link", { name: "Show all keys" }).click();
  await page.getByText("No keys yet").waitFor();
  await assertAccessible(t, page);
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
    t.is(await page.evaluate("scrollY"), 900, tab);
  }
});
