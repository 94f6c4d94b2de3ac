import test, { type ExecutionContext } from "ava";
import { addModels } from "../helpers/add-models.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { hostileNames } from "../helpers/hostile-names.ts";
import { administrator, createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("names that look like code are shown as text everywhere", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys/new" });
  for (const name of hostileNames) {
    await page.getByRole("heading", { name: "Create key" }).waitFor();
    await page.getByRole("textbox", { name: "Name" }).fill(name);
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("dialog", { name: `${name} created, but no models are connected` }).waitFor();
    await page.getByRole("button", { name: "Done", exact: true }).click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await page.getByRole("button", { name: "Key actions" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: `Delete ${name}?` }).waitFor();
    if (name === hostileNames[0]) await assertAccessible(t, page);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.goto("/keys/new");
  }
  await page.goto("/keys");
  for (const name of hostileNames) await page.getByRole("link", { name, exact: true }).waitFor();
  await assertAccessible(t, page);
  await page.getByRole("searchbox", { name: "Search keys" }).fill("<script>");
  await page.getByRole("link", { name: hostileNames.at(-1) ?? "" }).waitFor({ state: "detached" });
  t.is(await page.getByRole("table").getByRole("link").count(), 1);
  t.deepEqual(page.complaints, []);
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

browserTest("an open page reconnects to a restarted gateway and keeps the input", async (t) => {
  const { gateway, id, page } = await beginEdit(t);
  await page.getByRole("checkbox", { name: "many/model-3" }).check();
  await gateway.close();
  await page.getByRole("button", { name: "Save models" }).click();
  await page.getByText("The gateway cannot be reached.").first().waitFor();
  await assertAccessible(t, page);

  const again = await startTestGateway(t, {
    environment: { ...gateway.environment, PORT: new URL(gateway.url).port },
  });
  t.is(again.url, gateway.url);
  t.true(await page.getByRole("checkbox", { name: "many/model-3" }).isChecked());
  await page.getByRole("button", { name: "Save models" }).click();
  await page.getByText("Models saved").waitFor();
  t.deepEqual(await modelsOf(again, id), ["demo/echo", "many/model-3"]);
});

browserTest("an unavailable database is reported and retried", async (t) => {
  const gateway = await startTestGateway(t, { environment: { DATABASE_TIMEOUT_MS: "1000" } });
  const { id } = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  await page.getByRole("link", { name: "Test key" }).waitFor();
  const thaw = freeze(gateway);
  await page.getByRole("link", { name: "Test key" }).click();
  const notice = page.getByRole("alert").filter({ hasText: "Couldn't load key" });
  t.regex(await notice.innerText(), /cannot reach its database.*Request req_/s);
  await assertAccessible(t, page);
  t.regex(page.url(), new RegExp(`/keys/${id}$`));
  thaw();
  await page.getByRole("heading", { name: "Test key" }).waitFor();
  await notice.waitFor({ state: "detached" });

  const thawAgain = freeze(gateway);
  await page.getByRole("button", { name: "Deactivate" }).click();
  const dialog = page.getByRole("dialog", { name: "Deactivate Test key?" });
  await dialog.getByRole("button", { name: "Deactivate" }).click();
  await dialog.getByText("cannot reach its database").waitFor();
  await assertAccessible(t, page);
  thawAgain();
  await dialog.getByRole("button", { name: "Deactivate" }).click();
  await page.getByText("This key is deactivated.").waitFor();
});

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
  const found = await services.database.read(({ apiKeys }) => apiKeys.find(id, "everyone"));
  return found?.models.map(({ slug }) => slug);
}

/** Operations on SQLite run one at a time, so a pending read blocks all others like a frozen server. */
function freeze({ services: { database } }: TestGateway): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  database.read(() => promise).catch(() => {});
  return resolve;
}

browserTest("a new page keeps the navigation without a gateway, and recovers with it", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  await page.getByRole("region", { name: "API keys" }).waitFor();
  await gateway.close();
  await page.getByRole("link", { name: "Models" }).click();
  await page.getByRole("heading", { name: "Gateway unreachable" }).waitFor();
  t.is(new URL(page.url()).pathname, "/models");
  t.true(await page.getByRole("navigation", { name: "Console" }).isVisible());
  await assertAccessible(t, page);
  await restart(t, gateway);
  await page.getByRole("cell", { name: "demo/echo" }).waitFor();
});

browserTest("a tab of a key recovers after the gateway was away", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}` });
  await page.getByRole("heading", { name: "Test key" }).waitFor();
  await gateway.close();
  await page.getByRole("link", { name: "Limits" }).click();
  await page.getByRole("heading", { name: "Gateway unreachable" }).waitFor();
  await restart(t, gateway);
  await page.getByLabel("Requests per minute").waitFor();
});

browserTest("the usage page says at once that the gateway is unreachable, and recovers", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/usage" });
  await page.getByRole("heading", { name: "No requests" }).waitFor();
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByRole("region", { name: "API keys" }).waitFor();
  await gateway.close();
  await page.getByRole("link", { name: "Usage" }).click();
  const notice = page.getByRole("alert").filter({ hasText: "The gateway cannot be reached." });
  await notice.waitFor();
  await restart(t, gateway);
  await page.getByRole("heading", { name: "No requests" }).waitFor();
  await notice.waitFor({ state: "detached" });
});

async function restart(t: ExecutionContext, { environment, url }: TestGateway): Promise<void> {
  const again = await startTestGateway(t, { environment: { ...environment, PORT: new URL(url).port } });
  t.is(again.url, url);
}
