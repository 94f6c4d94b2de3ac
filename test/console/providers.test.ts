import test, { type ExecutionContext } from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser, visit } from "../helpers/chromium.ts";
import { eventually } from "../helpers/eventually.ts";
import { hostileNames } from "../helpers/hostile-names.ts";
import { createUpstream, type ScriptedUpstream } from "../helpers/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";
import { addNamedModels } from "./add-named-models.ts";

const browser = shareBrowser(test);
const goodKey = "upstream-key-0123456789-good";
const badKey = "upstream-key-0123456789-evil";

browserTest("a provider is selected, connected and tested, and its models are picked", async (t) => {
  const upstream = await createListingUpstream(t, ["gpt-4o", "gpt-4o-mini", "house-model", "other"]);
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/providers" });
  await page.getByRole("link", { name: "Add provider" }).click();
  await page.getByRole("link", { name: /^OpenAI Key from openai.com/ }).waitFor();
  await assertAccessible(t, page);
  await page.getByRole("searchbox").fill("nobody knows this one");
  await page.getByText("No providers match").waitFor();
  await page.getByRole("searchbox").fill("deeps");
  await page.getByRole("link", { name: /^OpenAI/ }).waitFor({ state: "detached" });
  await page.getByRole("searchbox").fill("openai");
  await page.getByRole("link", { name: /^OpenAI Key/ }).click();

  await page.getByRole("heading", { name: "OpenAI" }).waitFor();
  t.is(await page.getByLabel("Name").inputValue(), "openai");
  t.is(await page.getByLabel("Base URL").count(), 0, "nobody has to know OpenAI's address");
  t.is(
    await page.getByRole("link", { name: /platform\.openai\.com/ }).getAttribute("href"),
    "https://platform.openai.com/api-keys",
  );
  await page.getByRole("button", { name: "Use another URL" }).click();
  await page.getByLabel("Base URL").fill(`${upstream.url}/v1`);
  await page.getByLabel("API key").fill(goodKey);
  t.is(await page.getByLabel("API key").getAttribute("type"), "password");
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Save and test" }).click();

  await page.getByText(/Connected\. Responded in \d+ ms, 4 models\./).waitFor();
  const [provider] = (await gateway.admin.providers.list.query()).filter(({ name }) => name === "openai");
  t.is(new URL(page.url()).search, `?provider=${provider?.id}`);
  const list = page.getByRole("list", { name: "Models of openai" });
  await list.getByText("128K context · $2.50 in · $10.00 out").waitFor();
  await list.locator("li", { hasText: "house-model" }).getByText("no context or price data").waitFor();
  await assertAccessible(t, page);
  await page.reload();
  await list.waitFor();
  t.false((await page.content()).includes(goodKey), "the key is never shown again");

  await page.getByLabel("Search these models").fill("4o");
  await page.getByRole("button", { name: "Select these 2" }).click();
  await page.getByLabel("Search these models").fill("house");
  await list.getByRole("checkbox").press("Space");
  await page.getByText("3 selected").waitFor();
  await page.getByRole("button", { name: "Add 3 models" }).click();
  await page.waitForURL(`**/providers/${provider?.id}`);
  await page.getByRole("alert").getByText("3 models added").waitFor();
  await assertAccessible(t, page);
  const made = await gateway.admin.models.list.query({ providerId: provider?.id ?? "" });
  t.deepEqual(
    made.map(({ slug, prices }) => [slug, prices.input]),
    [
      ["openai/gpt-4o", 2.5],
      ["openai/gpt-4o-mini", 0.15],
      ["openai/house-model", null],
    ],
  );

  await page.getByRole("link", { name: "Show models" }).click();
  await page.waitForURL(`**/models?provider=${provider?.id}`);
  await page.getByRole("row", { name: /openai\/house-model/ }).waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "Create API key" }).click();
  await page.getByText("3 of 4 selected").waitFor();
  await page.getByLabel("Name").fill("Laptop");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("dialog", { name: "Key Laptop created" }).waitFor();
  const { items } = await gateway.admin.keys.list.query({ search: "Laptop" });
  t.deepEqual(
    items[0]?.models,
    made.map(({ slug }) => slug),
  );
});

browserTest("a connection error is shown and fixed in place", async (t) => {
  const upstream = await createListingUpstream(t, ["small"]);
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/providers/new?from=other" });
  await page.getByLabel("Base URL").fill("http://127.0.0.1:1/v1");
  await page.getByLabel("API key").fill(badKey);
  await page.getByLabel("Name").fill("demo");
  await page.getByRole("button", { name: "Save and test" }).click();
  await page.getByText("The provider demo already exists.").waitFor();
  t.is(await page.getByLabel("Name").getAttribute("aria-invalid"), "true");
  t.is(await page.getByLabel("API key").inputValue(), badKey, "nothing typed is lost");
  await page.getByLabel("Name").fill("house");
  await page.getByRole("button", { name: "Save and test" }).click();

  await page.getByText(/Connection failed\. The connection to 127\.0\.0\.1:1 was refused/).waitFor();
  await assertAccessible(t, page);
  await page.getByLabel("Base URL").fill(`${upstream.url}/v1`);
  await page.getByRole("button", { name: "Save and retest" }).click();
  await page
    .getByText("Connection failed. The provider rejected the key (HTTP status 401). Check the key.")
    .waitFor();
  await page.getByLabel("New API key").fill(goodKey);
  await page.getByRole("button", { name: "Save and retest" }).click();
  await page.getByText(/Connected\./).waitFor();
  await page.getByRole("list", { name: "Models of house" }).waitFor();
  const [provider] = (await gateway.admin.providers.list.query()).filter(({ name }) => name === "house");
  t.deepEqual(
    provider?.credentials.map(({ lastFour }) => lastFour),
    ["good"],
    "the refused key is gone",
  );
});

browserTest("keys in the environment become providers with one click", async (t) => {
  const gateway = await startTestGateway(t, {
    environment: {
      OPENAI_API_KEY: "sk-environment-0123456789-aaaa",
      GROQ_API_KEY: "gsk-environment-0123456789-bbbb",
      MISTRAL_API_KEY: "environment-0123456789-cccc",
    },
  });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/providers" });
  await page.route("**/trpc/providers.test*", (route) => route.abort());
  await page.getByRole("button", { name: "Import GROQ_API_KEY" }).waitFor();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Import GROQ_API_KEY" }).click();
  await page.waitForURL(/\/providers\/new\?provider=/);
  await page.getByRole("heading", { name: "groq" }).waitFor();

  // The name `mistral` is taken, so importing all keys creates no provider.
  await gateway.admin.providers.create.mutate({ name: "mistral", kind: "demo" });
  await page.goto("/providers");
  await page.getByRole("button", { name: "Import all" }).click();
  await page.getByText("The provider mistral already exists.").waitFor();
  await page.getByRole("button", { name: "Import OPENAI_API_KEY" }).click();
  await page.getByRole("heading", { name: "openai" }).waitFor();
  const providers = await gateway.admin.providers.list.query();
  t.deepEqual(
    providers.map(({ name, credentials }) => [name, credentials[0]?.lastFour]),
    [
      ["demo", undefined],
      ["groq", "bbbb"],
      ["mistral", undefined],
      ["openai", "aaaa"],
    ],
  );
});

browserTest("an upstream's model names are rendered as text", async (t) => {
  const upstream = await createListingUpstream(t, [...hostileNames, "plain"]);
  const gateway = await startTestGateway(t);
  const { id } = await addProvider(gateway, upstream.url, { name: "odd" });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/providers/${id}/add-models` });
  const list = page.getByRole("list", { name: "Models of odd" });
  for (const name of hostileNames) await list.getByText(name.trim(), { exact: true }).first().waitFor();
  await assertAccessible(t, page);
  t.is(await list.getByRole("checkbox", { disabled: false }).count(), 1, "the others are no slugs");
  await page.getByRole("link", { name: "Add manually <img" }).click();
  await page.getByLabel("Provider model ID").waitFor();
  t.is(await page.getByLabel("Provider model ID").inputValue(), hostileNames[0] ?? "");
  await page.getByLabel("Model name").fill("tamed");
  await page.getByRole("button", { name: "Add model" }).click();
  await page.waitForURL("**/models/odd/tamed");
  await page.goto("/models");
  await page.getByText(hostileNames[0] ?? "").waitFor();
  await assertAccessible(t, page);
});

browserTest("an upstream without a list accepts known models, or any by hand", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await addNamedModels(gateway, "proxy", [], "openai");
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/providers/${id}/add-models` });
  await page.getByText("Couldn't list models").waitFor();
  await page.getByLabel("Search these models").fill("gpt-4o-mini");
  await page.getByRole("checkbox", { name: /^gpt-4o-mini 1/ }).check();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Add one model" }).click();
  await page.waitForURL(`**/providers/${id}`);
  t.is((await gateway.admin.models.get.query({ slug: "proxy/gpt-4o-mini" })).prices.input, 0.15);
});

browserTest("a provider that rejects the key is not reported as having no models", async (t) => {
  const upstream = await createListingUpstream(t, ["small"]);
  const gateway = await startTestGateway(t);
  const { id } = await addProvider(gateway, upstream.url, { apiKey: badKey });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/providers/${id}/add-models` });
  await page.getByRole("alert").getByText("The provider rejected the key").waitFor();
  await page.getByRole("link", { name: "Add model manually" }).waitFor();
  t.is(await page.getByText("The provider lists no models").count(), 0);
});

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
  await visit(page, `/providers/${id}`);
  await page.getByText("No key yet. Requests fail until you add a key.").waitFor();
  await page.getByText("No requests in the last hour").waitFor();
  await visit(page, "/providers/prv_nothing");
  await page.getByText("This provider does not exist").waitFor();
});

browserTest("providers are searched and sorted, and the URL keeps the state", async (t) => {
  const gateway = await startTestGateway(t);
  for (const name of ["zebra", "aardvark"])
    await gateway.admin.providers.create.mutate({ name, kind: "anthropic" });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/providers" });
  const table = page.getByRole("region", { name: "Providers" });
  await table.getByRole("link", { name: "1 model of demo" }).waitFor();
  const names = async () => {
    const texts = await table.getByRole("row").getByRole("link").allInnerTexts();
    return texts.filter((text) => /^[a-z]+$/.test(text));
  };
  t.deepEqual(await names(), ["aardvark", "demo", "zebra"]);
  const sorted = async (column: string, direction: string) => {
    await table.locator(`[aria-sort="${direction}"]`).filter({ hasText: column }).waitFor();
    t.is(await table.locator("[aria-sort]").count(), 1);
    return new URL(page.url()).search;
  };
  t.is(await sorted("Name", "ascending"), "");
  await table.getByRole("button", { name: "Models" }).press("Enter");
  t.is(await sorted("Models", "descending"), "?sort=models");
  t.is((await names())[0], "demo");
  await table.getByRole("button", { name: "Name" }).click();
  t.is(await sorted("Name", "ascending"), "");
  await table.getByRole("button", { name: "Name" }).click();
  t.is(await sorted("Name", "descending"), "?sort=-name");
  t.deepEqual(await names(), ["zebra", "demo", "aardvark"]);

  await page.getByRole("searchbox", { name: "Search providers" }).fill("anthropic");
  await table.getByRole("link", { name: "demo" }).first().waitFor({ state: "detached" });
  t.is(new URL(page.url()).search, "?sort=-name&search=anthropic");
  t.deepEqual(await names(), ["zebra", "aardvark"]);
  await assertAccessible(t, page);
  await page.reload();
  await table.getByRole("link", { name: "zebra" }).waitFor();
  t.deepEqual(await names(), ["zebra", "aardvark"]);
  await page.getByRole("searchbox").fill("nobody");
  await page.getByText("No providers match").waitFor();
  await page.getByRole("link", { name: "Clear filters" }).click();
  await table.getByRole("link", { name: "1 model of demo" }).waitFor();
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
  const good = keys.locator("li", { hasText: "…good" });
  await good.getByText(/Responded in/).waitFor();
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
  // The message disappears after some seconds.
  await Promise.all([page.getByText("house deleted").waitFor(), page.keyboard.press("Enter")]);
  await page.waitForURL("**/providers");
  t.is((await gateway.admin.models.list.query()).length, 1);
  await page.getByRole("link", { name: "demo", exact: true }).waitFor();
  await page.getByRole("link", { name: "house", exact: true }).waitFor({ state: "detached" });
});

function addProvider(gateway: TestGateway, url: string, more: { name?: string; apiKey?: string } = {}) {
  const settings = { name: "house", kind: "openai-compatible", baseUrl: `${url}/v1` } as const;
  return gateway.admin.providers.create.mutate({ ...settings, apiKey: goodKey, ...more });
}

browserTest("a refused private address is reported beside its field with the remedy", async (t) => {
  const gateway = await startTestGateway(t, { environment: { UPSTREAM_PRIVATE_HOSTS: "" } });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/providers/new?from=ollama" });
  t.is(await page.getByLabel("Base URL").inputValue(), "http://localhost:11434/v1");
  await page.getByText(/to UPSTREAM_PRIVATE_HOSTS/).waitFor();
  // A browser parses the second address as a URL with the scheme "localhost".
  for (const schemeless of ["127.0.0.1:11434", "localhost:11434/v1"]) {
    await page.getByLabel("Base URL").fill(schemeless);
    await page.getByRole("button", { name: "Save and test" }).click();
    await page.getByText("Enter a URL that starts with https:// or http://.").waitFor();
  }
  await page.getByLabel("Base URL").fill("http://localhost:11434/v1");
  await page.getByRole("button", { name: "Save and test" }).click();
  await page.getByText(/add localhost:11434 to UPSTREAM_PRIVATE_HOSTS, and restart the gateway/).waitFor();
  t.is(await page.getByLabel("Base URL").getAttribute("aria-invalid"), "true");
  await page.getByLabel("Base URL").and(page.locator(":focus")).waitFor();
  await assertAccessible(t, page);
});

browserTest("only private addresses that are not allowed show how to allow them", async (t) => {
  const environment = { UPSTREAM_PRIVATE_HOSTS: "localhost:11434,[::1]:8000" };
  const gateway = await startTestGateway(t, { environment });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/providers/new?from=ollama" });
  const howTo = page.getByText("To allow this private address, add");
  const address = page.getByLabel("Base URL");
  await address.fill("http://localhost:11435/v1");
  await howTo.getByText("localhost:11435").waitFor();
  for (const allowed of ["http://localhost:11434/v1", "http://[::1]:8000/v1"]) {
    await address.fill(allowed);
    await howTo.waitFor({ state: "detached" });
    await address.fill("http://10.0.0.5/v1");
    await howTo.getByText("10.0.0.5:80").waitFor();
  }

  const { id } = await gateway.admin.providers.create.mutate({
    name: "ollama",
    kind: "openai-compatible",
    preset: "ollama",
    baseUrl: "http://localhost:11434/v1",
  });
  const answered = page.waitForResponse((response) => response.url().includes("providers.privateHosts"));
  await page.goto(`/providers/${id}`);
  await answered;
  await page.getByText("localhost in this URL means the container").waitFor();
  t.is(await howTo.count(), 0);
});

browserTest(
  "the rules for a name stay visible, AWS needs a region and a key, Azure its endpoint",
  async (t) => {
    const gateway = await startTestGateway(t);
    const page = await openSignedIn(t, { browser: browser(), gateway, path: "/providers/new?from=openai" });
    const name = page.getByLabel("Name");
    await page
      .getByText("The name cannot be changed later, because slugs such as openai/model contain it.")
      .waitFor();
    await page.getByLabel("API key").fill(goodKey);
    for (const wrong of ["My House", "-house"]) {
      await name.fill(wrong);
      t.is(await name.getAttribute("aria-invalid"), null, "the error was about another name");
      await page.getByRole("button", { name: "Save and test" }).click();
      await page
        .getByText("Use lower-case letters, digits and hyphens, and no hyphen at the start.")
        .waitFor();
      t.is(await page.getByText("because slugs such as").count(), 0, "an invalid name is in no slug");
      t.is(await name.getAttribute("aria-invalid"), "true");
    }
    await assertAccessible(t, page);
    t.is((await gateway.admin.providers.list.query()).length, 1);

    await visit(page, "/providers/new?from=bedrock");
    await page.getByLabel("Credential type").click();
    await page.getByRole("option", { name: "AWS access key" }).click();
    await page.getByLabel("Region").fill("eu-central-1");
    await page.getByLabel("Access key ID").fill("AKIAEXAMPLE");
    await page.getByLabel("Secret access key").fill("secret-of-aws-0123456789");
    await assertAccessible(t, page);
    // `providers.test` would call AWS. The console saves the provider before this call.
    await page.route("**/trpc/providers.test*", (route) => route.abort());
    await page.getByRole("button", { name: "Save and test" }).click();
    await page.waitForURL(/\?provider=/);
    const [made] = (await gateway.admin.providers.list.query()).filter(({ kind }) => kind === "bedrock");
    t.like(made, { name: "bedrock", baseUrl: "https://bedrock-runtime.eu-central-1.amazonaws.com" });
    t.is(made?.credentials[0]?.lastFour, "6789");

    await visit(page, "/providers/new?from=azure-openai");
    await page.getByText("The endpoint of your resource").waitFor();
    t.is(await page.getByLabel("Base URL").inputValue(), "");
    await visit(page, "/providers/new?from=bedrock");
    await page.getByLabel("Region").waitFor();
    t.is(await page.getByLabel("Name").inputValue(), "bedrock-2", "the name is free");
  },
);

/** Lists its models for the good key, and serves nothing else. */
function createListingUpstream(t: ExecutionContext, models: string[]): Promise<ScriptedUpstream> {
  return createUpstream(t, ({ url, headers }, response) => {
    const status = !url.endsWith("/models") ? 404 : headers.authorization === `Bearer ${goodKey}` ? 200 : 401;
    const list = { object: "list", data: models.map((id) => ({ id, object: "model" })) };
    const body = status === 200 ? list : { error: { message: "refused" } };
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
}
