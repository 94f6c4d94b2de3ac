import test, { type ExecutionContext } from "ava";
import { addModels } from "../helpers/add-models.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("models are connected and removed, and leaving warns about unsaved changes", async (t) => {
  const gateway = await startTestGateway(t);
  await addModels(gateway, "many", 40);
  const { id } = await createKey(gateway, ["demo/echo"]);
  // The page opens from the list, so that `history.back()` has a target.
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  await page.getByRole("link", { name: "Test key" }).click();
  await page.getByRole("button", { name: "Edit models" }).click();
  await page.getByRole("searchbox", { name: "Search models" }).fill("many 4");
  await assertAccessible(t, page);
  await page.getByRole("checkbox", { name: "shown models" }).check();
  await page.getByRole("searchbox", { name: "Search models" }).fill("");
  await page.getByRole("checkbox", { name: "demo/echo" }).uncheck();
  await page.getByText("5 added, 1 removed").waitFor();

  const guard = page.getByRole("dialog", { name: "Discard changes?" });
  for (const leave of [
    () => page.getByRole("link", { name: "Snippets" }).click(),
    () => page.getByRole("link", { name: "Overview" }).first().click(),
    () => page.evaluate("history.back()"),
  ]) {
    await leave();
    await guard.getByRole("button", { name: "Stay" }).click();
    await guard.waitFor({ state: "detached" });
  }
  await page.getByRole("button", { name: "Save models" }).click();
  await page.getByText("Models saved").waitFor();
  t.is(await page.evaluate("document.activeElement.innerText.trim()"), "Edit models");
  const { models } = await gateway.admin.keys.get.query({ id });
  t.deepEqual(models, ["many/model-14", "many/model-24", "many/model-34", "many/model-4", "many/model-40"]);
  const connected = page.getByRole("region", { name: "Key models" }).getByRole("listitem");
  t.deepEqual(await connected.allInnerTexts(), models, "each as requests have to call it");

  // The dialog must appear again after a discarded change.
  for (let time = 0; time < 2; time++) {
    await page.getByRole("link", { name: "Models" }).last().click();
    await page.getByRole("button", { name: "Edit models" }).click();
    await page.getByRole("checkbox", { name: "demo/echo" }).check();
    await page.getByRole("link", { name: "Snippets" }).click();
    await guard.getByRole("button", { name: "Leave" }).click();
    await page.getByRole("tab", { name: "curl" }).waitFor();
  }
});

async function openTwice(t: Parameters<typeof openSignedIn>[0], gateway: TestGateway, id: string) {
  const first = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}` });
  await first.getByRole("button", { name: "Edit models" }).click();
  const second = await first.context().newPage();
  await second.goto(`/keys/${id}`);
  await second.getByRole("button", { name: "Edit models" }).click();
  await second.getByRole("checkbox", { name: "demo/echo" }).waitFor();
  return { first, second };
}

for (const { choice, expected } of [
  { choice: "Keep both", expected: ["many/model-1", "many/model-2"] },
  { choice: "Keep mine", expected: ["demo/echo", "many/model-2"] },
  { choice: "Discard my changes", expected: ["many/model-1"] },
]) {
  browserTest(`of two tabs that change a key's models, the later decides: ${choice}`, async (t) => {
    const gateway = await startTestGateway(t);
    await addModels(gateway, "many", 3);
    const { id } = await createKey(gateway, ["demo/echo"]);
    const { first, second } = await openTwice(t, gateway, id);
    await first.getByRole("checkbox", { name: "many/model-1" }).check();
    await first.getByRole("checkbox", { name: "demo/echo" }).uncheck();
    await first.getByRole("button", { name: "Save models" }).click();
    await first.getByText("Models saved").waitFor();

    await second.getByRole("checkbox", { name: "many/model-2" }).check();
    await second.getByRole("button", { name: "Save models" }).click();
    const notice = second.getByRole("alert").filter({ hasText: "while you were editing" });
    t.regex(await notice.innerText(), /Added meanwhile: many\/model-1\s+Removed meanwhile: demo\/echo/);
    t.true(await second.getByRole("checkbox", { name: "many/model-2" }).isChecked());
    t.deepEqual((await gateway.admin.keys.get.query({ id })).models, ["many/model-1"]);
    await assertAccessible(t, second);

    await second.getByRole("button", { name: choice }).click();
    if (choice !== "Discard my changes") await second.getByRole("button", { name: "Save models" }).click();
    await second.getByRole("button", { name: "Edit models" }).waitFor();
    t.deepEqual((await gateway.admin.keys.get.query({ id })).models, expected);
  });
}

browserTest("another person's change elsewhere in the key does not block saving", async (t) => {
  const gateway = await startTestGateway(t);
  await addModels(gateway, "many", 3);
  const { id } = await createKey(gateway, ["demo/echo"]);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}` });
  await page.getByRole("button", { name: "Edit models" }).click();
  await page.getByRole("checkbox", { name: "many/model-1" }).check();
  await gateway.admin.keys.rename.mutate({ id, name: "Renamed meanwhile" });
  await page.getByRole("button", { name: "Save models" }).click();
  await page.getByText("Models saved").waitFor();
  await page.getByRole("heading", { name: "Renamed meanwhile" }).waitFor();
  t.deepEqual((await gateway.admin.keys.get.query({ id })).models, ["demo/echo", "many/model-1"]);
});

browserTest("a conflicting name overwrites only after the other one was seen", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}` });
  await page.getByRole("button", { name: "Rename" }).click();
  await page.keyboard.type("Mine");
  await gateway.admin.keys.rename.mutate({ id, name: "<b>Theirs</b>" });
  await page.keyboard.press("Enter");
  await page.getByText("Someone else renamed the key to <b>Theirs</b>.").waitFor();
  t.is(await page.getByRole("textbox", { name: "Name" }).inputValue(), "Mine");
  t.is((await gateway.admin.keys.get.query({ id })).name, "<b>Theirs</b>");
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Rename anyway" }).click();
  await page.getByRole("heading", { name: "Mine" }).waitFor();
  t.is((await gateway.admin.keys.get.query({ id })).name, "Mine");
});

/** Creates a member's key with three models of the demo provider. */
async function setUp(t: ExecutionContext<unknown>) {
  const gateway = await startTestGateway(t);
  const { models, providers, keys } = gateway.admin;
  const [demo] = await providers.list.query();
  for (const slug of ["demo/second", "demo/third"]) {
    await models.create.mutate({ slug, providerId: demo?.id ?? "", upstreamModel: "echo" });
  }
  const grace = await addPerson(gateway, "grace@example.com");
  const connected = ["demo/echo", "demo/second", "demo/third"];
  const criteria = { name: "Hers", ownerId: grace.id, models: connected };
  const { id } = (await keys.create.mutate(criteria)).key;
  const open = (path: string, person = {}) =>
    openSignedIn(t, { browser: browser(), gateway, path, ...person });
  return { id, keys, grace, open };
}

browserTest("a member sees that an administrator deactivated the key", async (t) => {
  const { id, keys, grace, open } = await setUp(t);
  await keys.deactivate.mutate({ id });
  const page = await open(`/keys/${id}`, grace);
  await page.getByText("An administrator deactivated this key.").waitFor();
  await page.getByText("Deactivated by administrator").waitFor();
  await page.getByRole("button", { name: "Rotate" }).waitFor();
  t.is(await page.getByRole("button", { name: "Activate" }).count(), 0);
  await assertAccessible(t, page);

  await page.goto("/keys");
  await page.getByText("Deactivated by administrator").waitFor();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Actions for Hers" }).click();
  const item = page.getByRole("menuitem", { name: "Activate" });
  t.is(await item.getAttribute("aria-disabled"), "true");

  const admins = await open(`/keys/${id}`);
  await admins.getByRole("button", { name: "Activate" }).click();
  await admins.getByText("An administrator deactivated this key.").waitFor({ state: "detached" });
  t.is((await keys.get.query({ id })).status, "active");
});

browserTest("a refused activation shows who decided and what to do", async (t) => {
  const { id, keys, grace, open } = await setUp(t);
  await grace.console.keys.deactivate.mutate({ id });
  const page = await open(`/keys/${id}`, grace);
  const activate = page.getByRole("button", { name: "Activate" });
  await activate.waitFor();
  await keys.deactivate.mutate({ id });
  await activate.click();
  await page.getByText("Ask an administrator to activate it.").waitFor();
  t.is((await keys.get.query({ id })).status, "disabled");
});

browserTest("a member cannot select a model that an administrator removed", async (t) => {
  const { id, keys, grace, open } = await setUp(t);
  await keys.setModels.mutate({ id, models: ["demo/echo"] });
  await grace.console.keys.setModels.mutate({ id, models: [] });
  await keys.setModels.mutate({ id, models: ["demo/third"] });
  const page = await open(`/keys/${id}`, grace);
  await page.getByText("Only an administrator can reconnect these models.").waitFor();
  await assertAccessible(t, page);

  await page.getByRole("button", { name: "Edit models" }).click();
  const second = page.getByRole("checkbox", { name: "demo/second" });
  t.true(await second.isDisabled());
  await page.getByText("Removed by administrator", { exact: true }).waitFor();
  await assertAccessible(t, page);
  await page.getByRole("checkbox", { name: "All models of demo" }).check();
  t.false(await second.isChecked());
  await page.keyboard.press("End");
  t.is(await page.evaluate("document.activeElement.ariaLabel"), "demo/third");
  await page.keyboard.press("ArrowUp");
  t.is(await page.evaluate("document.activeElement.ariaLabel"), "demo/echo", "not the disabled one");
  await page.getByRole("button", { name: "Save models" }).click();
  await page.getByText("Models saved").waitFor();
  t.deepEqual((await keys.get.query({ id })).models, ["demo/echo", "demo/third"]);
});

browserTest("an administrator sees and reverts what the owner cannot", async (t) => {
  const { id, keys, open } = await setUp(t);
  const page = await open(`/keys/${id}`);
  await page.getByRole("button", { name: "Deactivate" }).click();
  await page.getByRole("dialog").getByText("Only an administrator can reactivate the key.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();

  const notice = page.getByText("Only an administrator can reconnect these models.");
  for (const isRemoved of [true, false]) {
    await page.getByRole("button", { name: "Edit models" }).click();
    await page.getByRole("checkbox", { name: "demo/second" }).setChecked(!isRemoved);
    const warning = page.getByText("Only an administrator can reconnect removed models.");
    await warning.waitFor({ state: isRemoved ? "visible" : "detached" });
    await assertAccessible(t, page);
    await page.getByRole("button", { name: "Save models" }).click();
    await page.getByRole("button", { name: "Edit models" }).waitFor();
    await notice.waitFor({ state: isRemoved ? "visible" : "detached" });
    t.deepEqual((await keys.get.query({ id })).withheldModels, isRemoved ? ["demo/second"] : []);
  }
});
