import test from "ava";
import { eventually } from "../helpers/eventually.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { hostileNames } from "../helpers/hostile-names.ts";
import { badKey, createListingUpstream, goodKey } from "../helpers/listing-upstream.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("the list shows what each provider has and lacks", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await gateway.admin.providers.create.mutate({ name: "empty", kind: "anthropic" });
  await addProvider(gateway, "http://127.0.0.1:1");
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/providers" });
  const row = (name: string) => page.getByRole("row", { name: new RegExp(`^\\w? ?${name}`) });
  await row("house").getByText("No models yet").waitFor();
  await row("empty").getByText("No key").waitFor();
  const logo = row("empty").locator('[style*="/logos/anthropic.svg"]');
  t.is(await logo.count(), 1, "the kind's logo");
  await row("demo").getByText("Idle").waitFor();
  await assertAccessible(t, page);
  await row("demo").getByRole("link", { name: "1 model of demo" }).click();
  await page.waitForURL(/\/models\?provider=prv_/);
  await page.getByRole("link", { name: "demo/echo" }).waitFor();
  await page.goto(`/providers/${id}`);
  await page.getByText("No key yet. Requests fail until you add a key.").waitFor();
  await page.getByText("No requests in the last hour").waitFor();
  await page.goto("/providers/prv_nothing");
  await page.getByText("This provider does not exist").waitFor();
});

browserTest("keys are added, weighted, tested and removed, showing their last four digits", async (t) => {
  const upstream = await createListingUpstream(t, ["small"]);
  const gateway = await startTestGateway(t);
  const { id } = await addProvider(gateway, upstream.url);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/providers/${id}` });
  const keys = page.getByRole("list", { name: "Keys" });
  await keys.getByText("…good").first().waitFor();
  await page.getByRole("button", { name: "Add key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("API key").fill("has a space in it");
  await dialog.getByRole("button", { name: "Add and test" }).click();
  await dialog
    .getByText("The key contains spaces, control characters or non-ASCII characters. Copy only the key.")
    .waitFor();
  await dialog.getByLabel("API key").fill(badKey);
  await dialog.getByLabel("Weight").fill("3");
  await assertAccessible(t, page);
  await dialog.getByRole("button", { name: "Add and test" }).click();
  await page.getByText("Partially connected. 1 of 2 keys failed (…evil)").waitFor();
  await keys.locator("li", { hasText: "…evil" }).getByText("The provider rejected the key").waitFor();
  await keys
    .locator("li", { hasText: "…good" })
    .getByText(/Responded in/)
    .waitFor();
  await assertAccessible(t, page);

  await page.getByLabel("Weight of key …good").fill("9");
  await page.keyboard.press("Enter");
  await page.getByText("Weight of key …good saved").waitFor();
  await keys.getByText("75%").waitFor();

  await page.getByRole("button", { name: "Remove key …evil" }).click();
  await dialog.getByText("Requests will use the other key.").waitFor();
  await assertAccessible(t, page);
  await dialog.getByRole("button", { name: "Remove key" }).click();
  await keys.getByText("…evil").first().waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Remove key …good" }).click();
  await dialog.getByText("This is the last key of house").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  t.is((await page.locator(":focus").textContent())?.trim(), "Remove key …good");
  await page.getByRole("button", { name: "Test connection" }).click();
  await page.getByText(/Connected\. Responded/).waitFor();
  const [house] = (await gateway.admin.providers.list.query()).filter(({ name }) => name === "house");
  t.deepEqual(
    house?.credentials.map(({ lastFour, weight }) => [lastFour, weight]),
    [["good", 9]],
  );
  t.false((await page.content()).includes(goodKey));
});

browserTest("address and timeouts are edited, and the later of two tabs sees the change", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await addProvider(gateway, "http://127.0.0.1:1");
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/providers/${id}` });
  await page.getByLabel("Connect timeout").fill("2.5");
  await page.getByLabel("Total timeout").fill("9999");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("ms is out of range. Use 1 ms to 1 hour.").waitFor();
  await page.getByLabel("Total timeout").fill("600");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Settings saved").waitFor();
  const read = async () => (await gateway.admin.providers.list.query()).find((each) => each.id === id);
  t.deepEqual((await read())?.timeouts, { connectTimeoutMs: 2500, totalTimeoutMs: 600_000 });

  await page.getByLabel("Total timeout").fill("300");
  await gateway.admin.providers.update.mutate({
    id,
    baseUrl: "http://127.0.0.1:2/v1",
    timeouts: { totalTimeoutMs: 60_000 },
  });
  await page.getByRole("button", { name: "Save" }).click();
  const notice = page.getByRole("alert");
  await notice.getByText("Someone else changed this provider while you were editing.").waitFor();
  await notice.getByText("The base URL is now http://127.0.0.1:2/v1.").waitFor();
  await notice.getByText("The total timeout is now 60. Your value: 300.").waitFor();
  t.is(await page.getByLabel("Total timeout").inputValue(), "300");
  await assertAccessible(t, page);
  await notice.getByRole("button", { name: "Overwrite" }).click();
  await notice.waitFor({ state: "detached" });
  await eventually(async () => (await read())?.timeouts?.totalTimeoutMs === 300_000);
  t.is((await read())?.baseUrl, "http://127.0.0.1:2/v1");
  t.is(await page.getByLabel("Base URL").inputValue(), "http://127.0.0.1:2/v1");

  await page.getByLabel("Total timeout").fill("1");
  await gateway.admin.providers.update.mutate({ id, timeouts: { totalTimeoutMs: 2_000 } });
  await page.getByRole("button", { name: "Save" }).click();
  await notice.getByRole("button", { name: "Discard my changes" }).click();
  t.is(await page.getByLabel("Total timeout").inputValue(), "2");
  t.deepEqual((await read())?.timeouts, { totalTimeoutMs: 2_000 });
});

browserTest("deleting a provider lists the consequences and requires its name", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await addProvider(gateway, "http://127.0.0.1:1");
  await gateway.admin.providers.addModels.mutate({ id, models: ["one", "two"] });
  await gateway.admin.models.update.mutate({ slug: "demo/echo", fallbacks: ["house/one"] });
  for (const name of hostileNames) await gateway.admin.keys.create.mutate({ name, models: ["house/one"] });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/providers/${id}` });
  await page.getByRole("link", { name: "house/one" }).waitFor();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Delete provider" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("2 models are deleted: house/one, house/two.").waitFor();
  await dialog.getByText(`${hostileNames.length} API keys lose access`).waitFor();
  await dialog.getByText("Fallbacks are removed from demo/echo.").waitFor();
  for (const name of hostileNames) await dialog.getByText(name, { exact: true }).waitFor();
  await assertAccessible(t, page);
  t.true(await dialog.getByRole("button", { name: "Delete provider" }).isDisabled());
  await dialog.getByLabel("Type house to confirm").fill("house");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/providers");
  await page.getByText("house deleted").waitFor();
  t.is((await gateway.admin.models.list.query()).length, 1);
  await page.getByRole("link", { name: "demo", exact: true }).waitFor();
  await page.getByRole("link", { name: "house", exact: true }).waitFor({ state: "detached" });
});

browserTest("a member on the providers' pages reads who manages them", async (t) => {
  const gateway = await startTestGateway(t);
  const { email, password } = await addPerson(gateway, "member@example.com");
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/models", email, password });
  for (const path of ["/providers", "/providers/new", "/providers/prv_1", "/models/new"]) {
    await page.goto(path);
    await page.getByRole("heading", { name: "Administrators only" }).waitFor();
    t.is(await page.title(), "Administrators only · Model Gateway");
  }
  await assertAccessible(t, page);
});

function addProvider(gateway: TestGateway, url: string) {
  const settings = { name: "house", kind: "openai-compatible", baseUrl: `${url}/v1` } as const;
  return gateway.admin.providers.create.mutate({ ...settings, apiKey: goodKey });
}
