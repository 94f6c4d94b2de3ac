import test, { type ExecutionContext } from "ava";
import type { Page, Route } from "playwright-core";
import { addModels } from "../helpers/add-models.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser, visit } from "../helpers/chromium.ts";
import { administrator, createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("an open page reconnects to a restarted gateway and keeps the input", async (t) => {
  const { gateway, id, page } = await beginEdit(t);
  await page.getByRole("checkbox", { name: "many/model-3" }).check();
  await gateway.close();
  await page.getByRole("button", { name: "Save models" }).click();
  await page.getByText("The gateway cannot be reached.").first().waitFor();
  await assertAccessible(t, page);

  const again = await restart(t, gateway);
  t.true(await page.getByRole("checkbox", { name: "many/model-3" }).isChecked());
  await page.getByRole("button", { name: "Save models" }).click();
  await page.getByText("Models saved").waitFor();
  t.deepEqual(await modelsOf(again, id), ["demo/echo", "many/model-3"]);
});

browserTest("an unavailable database is reported and retried", async (t) => {
  const gateway = await startTestGateway(t, { environment: { DATABASE_TIMEOUT_MS: "10000" } });
  const { id } = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  await page.getByRole("link", { name: "Test key" }).waitFor();
  const thaw = freeze(t, gateway);
  await page.getByRole("link", { name: "Test key" }).click();
  const notice = page.getByRole("alert").filter({ hasText: "Couldn't load key" });
  t.regex(await notice.innerText(), /cannot reach its database.*Request req_/s);
  await assertAccessible(t, page);
  t.regex(page.url(), new RegExp(`/keys/${id}$`));
  thaw();
  await page.getByRole("heading", { name: "Test key" }).waitFor();
  await notice.waitFor({ state: "detached" });

  const thawAgain = freeze(t, gateway);
  await page.getByRole("button", { name: "Deactivate" }).click();
  const dialog = page.getByRole("dialog", { name: "Deactivate Test key?" });
  await dialog.getByRole("button", { name: "Deactivate" }).click();
  await dialog.getByText("cannot reach its database").waitFor();
  await assertAccessible(t, page);
  thawAgain();
  await dialog.getByRole("button", { name: "Deactivate" }).click();
  await page.getByText("This key is deactivated.").waitFor();
});

browserTest("pages keep the navigation without a gateway, and recover with it", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await createKey(gateway);
  const first = await openSignedIn(t, { browser: browser(), gateway, path: "/usage" });
  await first.getByRole("heading", { name: "No requests" }).waitFor();
  await first.getByRole("link", { name: "API keys" }).click();
  await first.getByRole("region", { name: "API keys" }).waitFor();
  const second = await first.context().newPage();
  await second.goto("/keys");
  await second.getByRole("region", { name: "API keys" }).waitFor();
  const third = await first.context().newPage();
  await third.goto(`/keys/${id}`);
  await third.getByRole("heading", { name: "Test key" }).waitFor();

  await gateway.close();
  // The first page visited the usage before, so its frame is shown at once.
  await first.getByRole("link", { name: "Usage" }).click();
  const notice = first.getByRole("alert").filter({ hasText: "The gateway cannot be reached." });
  await notice.waitFor();
  await second.getByRole("link", { name: "Models" }).click();
  await second.getByRole("heading", { name: "Gateway unreachable" }).waitFor();
  t.is(new URL(second.url()).pathname, "/models");
  t.true(await second.getByRole("navigation", { name: "Console" }).isVisible());
  await assertAccessible(t, second);
  const sections = third.getByRole("navigation", { name: "Key sections" });
  await sections.getByRole("link", { name: "Limits" }).click();
  await third.getByRole("heading", { name: "Gateway unreachable" }).waitFor();

  await restart(t, gateway);
  await first.getByRole("heading", { name: "No requests" }).waitFor();
  await notice.waitFor({ state: "detached" });
  await second.getByRole("cell", { name: "demo/echo" }).waitFor();
  await third.getByLabel("Requests per minute").waitFor();
});

browserTest("the next page belongs to the requested list, not to the one still shown", async (t) => {
  const gateway = await startTestGateway(t);
  for (let number = 1; number <= 51; number++) {
    const { key } = await gateway.admin.keys.create.mutate({ name: `Key ${number}` });
    if (number === 1) await gateway.admin.keys.deactivate.mutate({ id: key.id });
  }
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  await page.getByRole("button", { name: "Next" }).waitFor();
  const held = await holdCall(page, "keys.list");
  await page.getByLabel("Status").click();
  await page.getByRole("option", { name: "Deactivated (1)" }).click();
  const route = await held.call;
  await page.getByRole("button", { name: "Next" }).click();
  await route.continue();

  await page.getByRole("button", { name: "Next" }).waitFor({ state: "detached" });
  t.is(new URL(page.url()).search, "?status=disabled");
  t.true(await page.getByRole("link", { name: "Key 1", exact: true }).isVisible());

  await page.goto("/keys");
  const previous = page.getByRole("button", { name: "Previous" });
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("link", { name: "Key 1", exact: true }).waitFor();
  const { href } = new URL(page.url());
  await previous.click();
  await page.getByRole("link", { name: "Key 51" }).waitFor();
  await page.goto(href);
  await page.getByRole("link", { name: "Key 1", exact: true }).waitFor();
  t.true(await previous.isDisabled(), "a page opened by its address has none before it");
  await page.getByRole("button", { name: "First page" }).click();
  await page.getByRole("link", { name: "Key 51" }).waitFor();
});

browserTest("a session that ends during an edit costs a password and no input", async (t) => {
  const { gateway, id, page } = await beginEdit(t);
  await page.getByRole("checkbox", { name: "many/model-2" }).check();
  await gateway.admin.auth.signOutEverywhere.mutate();

  await page.getByRole("button", { name: "Save models" }).click();
  const dialog = page.getByRole("dialog", { name: "Sign in again" });
  await dialog.waitFor();
  await assertAccessible(t, page);
  t.is(await page.getByLabel("Email").inputValue(), administrator.email);
  await page.getByLabel("Password").fill(administrator.password);
  await page.keyboard.press("Enter");
  await page.getByText("Models saved").waitFor();
  await page.getByRole("listitem").filter({ hasText: "model-2" }).waitFor();
  t.deepEqual(await modelsOf(gateway, id), ["demo/echo", "many/model-2"]);
});

browserTest("a pending call blocks other calls on the key, and a new value is shown once", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}` });
  const held = await holdCall(page, "keys.deactivate");
  await page.getByRole("button", { name: "Deactivate" }).click();
  const dialog = page.getByRole("dialog", { name: "Deactivate Test key?" });
  await dialog.getByRole("button", { name: "Deactivate" }).click();
  const route = await held.call;
  t.true(await dialog.getByRole("button", { name: "Cancel" }).isDisabled());
  await page.keyboard.press("Escape");
  t.true(await dialog.isVisible());

  await route.continue();
  await dialog.waitFor({ state: "detached" });
  t.is((await gateway.admin.keys.get.query({ id })).status, "disabled");

  const { value } = await createKey(gateway);
  await visit(page, "/keys");
  await page.getByRole("link", { name: "Test key" }).first().click();
  const rotation = await holdCall(page, "keys.rotate");
  await page.getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("button", { name: "Rotate key" }).click();
  const rotate = await rotation.call;
  await page.evaluate("history.back()");
  await rotate.continue();

  const result = page.getByRole("dialog", { name: "New value of Test key" });
  const shown = result.getByText(/^sk-gateway-/).first();
  t.not(await shown.innerText(), value);
});

browserTest("input typed during a save is kept, and leaving warns about it", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await createKey(gateway);
  const path = `/keys/${id}?tab=limits`;
  const page = await openSignedIn(t, { browser: browser(), gateway, path });
  let held = await holdCall(page, "keys.setLimits");
  await page.getByLabel("Requests per minute").fill("60");
  await page.getByRole("button", { name: "Save limits" }).click();
  let route = await held.call;
  await page.getByLabel("Tokens per minute").fill("12345");
  await route.continue();
  await page.getByText("Limits saved").waitFor();
  t.is(await page.getByLabel("Requests per minute").inputValue(), "60");
  t.is(await page.getByLabel("Tokens per minute").inputValue(), "12345");
  await page.getByRole("link", { name: "Snippets" }).click();
  const guard = page.getByRole("dialog", { name: "Discard changes?" });
  await guard.getByRole("button", { name: "Leave" }).click();

  await visit(page, "/models/demo/echo");
  held = await holdCall(page, "models.update");
  await page.getByLabel("Context window").fill("8000");
  await page.getByRole("button", { name: "Save" }).click();
  route = await held.call;
  await page.getByLabel("Output limit").fill("777");
  await route.continue();
  await page.getByRole("button", { name: "Undo changes" }).waitFor();
  t.is((await gateway.admin.models.get.query({ slug: "demo/echo" })).contextWindow, 8_000);
  t.is(await page.getByLabel("Output limit").inputValue(), "777");
  await page.getByRole("button", { name: "Undo changes" }).click();

  await visit(page, `/keys/${id}`);
  held = await holdCall(page, "keys.rename");
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByLabel("Name").fill("First");
  await page.getByRole("button", { name: "Rename" }).click();
  route = await held.call;
  await page.getByLabel("Name").fill("Second");
  await route.continue();
  await page.getByText("Key renamed").waitFor();
  t.is(await page.getByLabel("Name").inputValue(), "Second");
  t.is((await gateway.admin.keys.get.query({ id })).name, "First");
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("heading", { level: 1, name: "Second" }).waitFor();

  held = await holdCall(page, "keys.setModels");
  await page.getByRole("button", { name: "Edit models" }).click();
  await page.getByRole("checkbox", { name: "demo/echo" }).uncheck();
  await page.getByRole("button", { name: "Save models" }).click();
  route = await held.call;
  await page.getByRole("checkbox", { name: "demo/echo" }).check();
  await route.continue();
  await page.getByText("1 added, 0 removed").waitFor();
  t.deepEqual((await gateway.admin.keys.get.query({ id })).models, []);
});

browserTest("leaving warns about unsaved settings, except after a deletion", async (t) => {
  const gateway = await startTestGateway(t);
  await addModels(gateway, "test", 1);
  const { providerId } = await gateway.admin.models.get.query({ slug: "test/model-1" });
  const page = await openSignedIn(t, { browser: browser(), gateway });
  const guard = page.getByRole("dialog", { name: "Discard changes?" });
  for (const [path, field] of [
    ["/models/test/model-1", "Context window"],
    [`/providers/${providerId}`, "Total timeout"],
  ] as const) {
    await page.goto(path);
    await page.getByLabel(field).fill("7");
    await page.getByRole("link", { name: "Overview" }).click();
    await guard.getByRole("button", { name: "Stay" }).click();
    t.is(await page.getByLabel(field).inputValue(), "7");

    await page.getByRole("button", { name: /^Delete/ }).click();
    const dialog = page.getByRole("dialog", { name: /^Delete/ });
    await dialog.getByLabel(/to confirm$/).fill(path.startsWith("/models") ? "test/model-1" : "test");
    await dialog.getByRole("button", { name: /^Delete/ }).click();
    await page.waitForURL(path.startsWith("/models") ? "**/models" : "**/providers");
    t.is(await guard.count(), 0);
  }
});

/** Starts a closed gateway again at its address. */
async function restart(t: ExecutionContext, { environment, url }: TestGateway): Promise<TestGateway> {
  const again = await startTestGateway(t, { environment: { ...environment, PORT: new URL(url).port } });
  t.is(again.url, url);
  return again;
}

/** Opens the model editor of a new key. */
async function beginEdit(t: ExecutionContext) {
  const gateway = await startTestGateway(t);
  await addModels(gateway, "many", 3);
  const { id } = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}` });
  await page.getByRole("button", { name: "Edit models" }).click();
  return { gateway, id, page };
}

async function modelsOf({ services }: TestGateway, id: string): Promise<string[] | undefined> {
  const found = await services.database.read(({ apiKeys }) => apiKeys.find(id));
  return found?.models.map(({ slug }) => slug);
}

/** Operations on SQLite run one at a time, so a pending read blocks all others like a frozen server. */
function freeze(t: ExecutionContext, { services: { database } }: TestGateway): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  database.read(() => promise).catch(() => {});
  // A failed test must not leave a gateway that cannot close.
  t.teardown(resolve);
  return resolve;
}

/** Holds the next call of a procedure. `call` resolves to the route whose `continue` sends the call. */
async function holdCall(page: Page, procedure: string): Promise<{ call: Promise<Route> }> {
  const { promise: call, resolve } = Promise.withResolvers<Route>();
  const isCall = (url: URL) => url.pathname.startsWith("/trpc/") && url.pathname.includes(procedure);
  await page.route(isCall, resolve, { times: 1 });
  return { call };
}
