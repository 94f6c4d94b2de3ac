import test, { type ExecutionContext } from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

/** Returns a member's key with three models of the demo provider. */
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
  await page.getByRole("dialog").getByText("Only an administrator can reactivate it.").waitFor();
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
