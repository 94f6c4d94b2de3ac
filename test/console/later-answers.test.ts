import test from "ava";
import type { Page, Route } from "playwright-core";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("a pending deactivation blocks other calls on the key", async (t) => {
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
});

browserTest("a pending rotation blocks leaving, and the new value is shown once", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  await page.getByRole("link", { name: "Test key" }).click();
  const held = await holdCall(page, "keys.rotate");
  await page.getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("button", { name: "Rotate key" }).click();
  const route = await held.call;
  await page.evaluate("history.back()");
  await route.continue();

  const dialog = page.getByRole("dialog", { name: "New value of Test key" });
  const shown = await dialog
    .getByText(/^sk-gateway-/)
    .first()
    .innerText();
  t.not(shown, value);
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

  await page.goto("/models/demo/echo");
  held = await holdCall(page, "models.update");
  await page.getByLabel("Context window").fill("8000");
  await page.getByRole("button", { name: "Save" }).click();
  route = await held.call;
  await page.getByLabel("Output limit").fill("777");
  await route.continue();
  await page.getByRole("button", { name: "Undo changes" }).waitFor();
  t.is((await gateway.admin.models.get.query({ slug: "demo/echo" })).contextWindow, 8_000);
  t.is(await page.getByLabel("Output limit").inputValue(), "777");
});

browserTest("a key's name and models changed during another save are kept", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}` });
  let held = await holdCall(page, "keys.rename");
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByLabel("Name").fill("First");
  await page.getByRole("button", { name: "Rename" }).click();
  let route = await held.call;
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

browserTest("figures of the earlier period are marked until the new ones arrive", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  await postChat(gateway, value, chatBody("demo/echo"));
  await gateway.services.recorder.flush();
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/usage" });
  await page.getByRole("region", { name: "Breakdown" }).getByRole("row").nth(1).waitFor();
  t.is(await page.getByText("Loading…").count(), 0);
  const open = Promise.withResolvers<void>();
  await page.route("**/graphql", (route) => open.promise.then(() => route.continue()));
  await page.getByLabel("Period").click();
  await page.getByRole("option", { name: "Last 7 days" }).click();
  await page.getByText("Loading…").nth(1).waitFor();
  t.is(await page.locator("[aria-busy=true]").count(), 2);
  open.resolve();
  await page.getByText("Loading…").first().waitFor({ state: "detached" });
  await page.getByText("Days in UTC").waitFor();
});

browserTest("leaving warns about unsaved settings, except after a deletion", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await gateway.admin.providers.create.mutate({
    name: "test",
    kind: "openai-compatible",
    baseUrl: "http://127.0.0.1:9/v1",
  });
  await gateway.admin.models.create.mutate({ slug: "test/model", providerId: id, upstreamModel: "m" });
  const guard = (page: Page) => page.getByRole("dialog", { name: "Discard changes?" });
  for (const [path, field] of [
    ["/models/test/model", "Context window"],
    [`/providers/${id}`, "Total timeout"],
  ] as const) {
    const page = await openSignedIn(t, { browser: browser(), gateway, path });
    await page.getByLabel(field).fill("7");
    await page.getByRole("link", { name: "Overview" }).click();
    await guard(page).getByRole("button", { name: "Stay" }).click();
    t.is(await page.getByLabel(field).inputValue(), "7");

    await page.getByRole("button", { name: /^Delete/ }).click();
    const dialog = page.getByRole("dialog", { name: /^Delete/ });
    await dialog.getByLabel(/to confirm$/).fill(path.startsWith("/models") ? "test/model" : "test");
    await dialog.getByRole("button", { name: /^Delete/ }).click();
    await page.getByText(" deleted").waitFor();
    t.is(await guard(page).count(), 0);
  }
});

browserTest("a list page opened by its address has no previous page", async (t) => {
  const gateway = await startTestGateway(t);
  for (let number = 1; number <= 51; number++)
    await gateway.admin.keys.create.mutate({ name: `Key ${number}` });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  const previous = page.getByRole("button", { name: "Previous" });
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("link", { name: "Key 1", exact: true }).waitFor();
  const { href } = new URL(page.url());
  await previous.click();
  await page.getByRole("link", { name: "Key 51" }).waitFor();

  await page.goto(href);
  await page.getByRole("link", { name: "Key 1", exact: true }).waitFor();
  t.true(await previous.isDisabled());
  await page.getByRole("button", { name: "First page" }).click();
  await page.getByRole("link", { name: "Key 51" }).waitFor();
});

/** Holds the next call of a procedure. `call` resolves to the route whose `continue` sends the call. */
async function holdCall(page: Page, procedure: string): Promise<{ call: Promise<Route> }> {
  const { promise: call, resolve } = Promise.withResolvers<Route>();
  const isCall = (url: URL) => url.pathname.startsWith("/trpc/") && url.pathname.includes(procedure);
  await page.route(isCall, resolve, { times: 1 });
  return { call };
}
