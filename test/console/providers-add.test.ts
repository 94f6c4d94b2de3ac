import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { hostileNames } from "../helpers/hostile-names.ts";
import { badKey, createListingUpstream, goodKey } from "../helpers/listing-upstream.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

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
  const { id } = await gateway.admin.providers.create.mutate({
    name: "odd",
    kind: "openai-compatible",
    baseUrl: `${upstream.url}/v1`,
    apiKey: goodKey,
  });
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
  const { id } = await gateway.admin.providers.create.mutate({
    name: "proxy",
    kind: "openai-compatible",
    preset: "openai",
    baseUrl: "http://127.0.0.1:1/v1",
  });
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
  const { id } = await gateway.admin.providers.create.mutate({
    name: "house",
    kind: "openai-compatible",
    baseUrl: `${upstream.url}/v1`,
    apiKey: badKey,
  });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/providers/${id}/add-models` });
  await page.getByRole("alert").getByText("The provider rejected the key").waitFor();
  await page.getByRole("link", { name: "Add model manually" }).waitFor();
  t.is(await page.getByText("The provider lists no models").count(), 0);
});
