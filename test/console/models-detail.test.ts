import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { hostileNames } from "../helpers/hostile-names.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("prices, sizes and the upstream name are edited; empty is unknown, 0 is free", async (t) => {
  const gateway = await startTestGateway(t);
  await addProvider(gateway, ["gpt-4o", "open/weights"]);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/models/house/open/weights" });
  await page.getByLabel("Context window").fill("32,768");
  await page.getByLabel("Input", { exact: true }).fill("0.000000125");
  await page.getByLabel("Output", { exact: true }).fill("0");
  await page.getByLabel("Provider model ID").fill("weights-v2");
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Model saved").waitFor();
  t.like(await gateway.admin.models.get.query({ slug: "house/open/weights" }), {
    upstreamModel: "weights-v2",
    contextWindow: 32_768,
    prices: { input: 1.25e-7, output: 0, cachedInput: null },
  });
  t.is(await page.getByLabel("Input", { exact: true }).inputValue(), "0.000000125");

  await page.getByLabel("Output", { exact: true }).fill("");
  await page.getByLabel("Output limit").fill("99999999999");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("is too large. Use at most 2147483647.").waitFor();
  t.is(await page.getByLabel("Output limit").getAttribute("aria-invalid"), "true");
  await page.getByRole("button", { name: "Undo changes" }).click();
  t.is(await page.getByLabel("Output", { exact: true }).inputValue(), "0");
  await page.getByLabel("Output", { exact: true }).fill("");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Undo changes" }).waitFor({ state: "detached" });
  const { prices } = await gateway.admin.models.get.query({ slug: "house/open/weights" });
  t.is(prices.output, null);

  await page.getByLabel("Provider model ID").fill("gpt-4o");
  await page.getByText("Known value: 128000.").waitFor();
  await page.getByRole("button", { name: "Use known values" }).click();
  t.is(await page.getByLabel("Input", { exact: true }).inputValue(), "2.5");
});

browserTest("fallbacks are reordered by keyboard alone", async (t) => {
  const gateway = await startTestGateway(t);
  await addProvider(gateway, ["main", "first", "second", "third"]);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/models/house/main" });
  for (const name of ["first", "second", "third"]) {
    await page.getByRole("combobox", { name: "Add a fallback" }).focus();
    await page.keyboard.type(`house/${name}`);
    await page.getByRole("option", { name: `house/${name}` }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("list", { name: "Fallbacks" }).getByText(`house/${name}`).waitFor();
  }
  await page.getByRole("button", { name: "Move house/third up" }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await page.getByText("house/third moved to position 1 of 3").waitFor();
  const focused = () => page.locator(":focus").getAttribute("aria-label");
  t.is(await focused(), "Move house/third up");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("house/third moved to position 2 of 3").waitFor();
  t.is(await focused(), "Move house/third down");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await page.getByText("house/third moved to position 1 of 3").waitFor();
  await page.getByRole("button", { name: "Remove house/first" }).press("Enter");
  t.is(await focused(), "Remove house/second", "the focus stays in the list");
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Model saved").waitFor();
  const { fallbacks } = await gateway.admin.models.get.query({ slug: "house/main" });
  t.deepEqual(fallbacks, ["house/third", "house/second"]);
});

browserTest("the later of two tabs sees the other's change and decides", async (t) => {
  const gateway = await startTestGateway(t);
  await addProvider(gateway, ["main", "spare"]);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/models/house/main" });
  await page.getByLabel("Input", { exact: true }).fill("3");
  await gateway.admin.models.update.mutate({
    slug: "house/main",
    prices: { input: 2 },
    fallbacks: ["house/spare"],
  });
  await page.getByRole("button", { name: "Save" }).click();
  const notice = page.getByRole("alert");
  await notice.getByText("The input price is now 2. Your value: 3.").waitFor();
  await notice.getByText("The list of fallbacks is now house/spare.").waitFor();
  await assertAccessible(t, page);
  await notice.getByRole("button", { name: "Overwrite" }).click();
  await page.getByText("Model saved").waitFor();
  t.like(await gateway.admin.models.get.query({ slug: "house/main" }), {
    prices: { input: 3, cachedInput: null, cacheWrite: null, output: null },
    fallbacks: ["house/spare"],
  });

  await page.getByLabel("Input", { exact: true }).fill("4");
  await gateway.admin.models.delete.mutate({ slug: "house/main" });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").getByText("No model has this ID. Reload the list of models.").waitFor();
  t.is(await page.getByLabel("Input", { exact: true }).inputValue(), "4");
});

browserTest("an error about a selection disappears with the next selection", async (t) => {
  const gateway = await startTestGateway(t);
  await addProvider(gateway, ["main", "spare", "gone"]);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/models/house/main" });
  const choose = async (label: string, option: string) => {
    await page.getByRole("combobox", { name: label, exact: true }).click();
    await page.getByRole("option", { name: option }).click();
  };
  await choose("Add a fallback", "house/spare");
  await choose("Add a fallback", "house/gone");
  await gateway.admin.models.delete.mutate({ slug: "house/gone" });
  await page.getByRole("button", { name: "Save" }).click();
  const noFallback = page.getByText("The fallback model house/gone does not exist");
  await noFallback.waitFor();
  await page.getByRole("button", { name: "Remove house/gone" }).click();
  await noFallback.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo changes" }).click();

  const { id } = await gateway.admin.providers.create.mutate({ name: "leaving", kind: "demo" });
  await page.goto(`/models/new?provider=${id}`);
  await page.getByLabel("Provider model ID").fill("small");
  await gateway.admin.providers.delete.mutate({ id });
  await page.getByRole("button", { name: "Add model" }).click();
  await page.getByText("No provider has this ID. Reload the list of providers.").waitFor();
  const provider = page.getByRole("combobox", { name: "Provider", exact: true });
  t.is(await provider.getAttribute("aria-invalid"), "true");
  await choose("Provider", "house");
  await page
    .getByText("No provider has this ID. Reload the list of providers.")
    .waitFor({ state: "detached" });
  t.is(await provider.getAttribute("aria-invalid"), null);
});

browserTest("deleting a model lists the keys that use it", async (t) => {
  const gateway = await startTestGateway(t);
  await addProvider(gateway, ["main", "spare"]);
  await gateway.admin.models.update.mutate({ slug: "house/spare", fallbacks: ["house/main"] });
  for (const name of hostileNames) await gateway.admin.keys.create.mutate({ name, models: ["house/main"] });
  for (let number = 0; number < 8; number++)
    await gateway.admin.keys.create.mutate({ name: `Key ${number}`, models: ["house/main"] });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/models/house/main" });
  await page.getByText(`${hostileNames.length + 8} in total`).waitFor();
  await page.getByRole("button", { name: "Show more" }).click();
  for (const name of hostileNames) await page.getByRole("link", { name, exact: true }).waitFor();
  await assertAccessible(t, page);

  await page.getByRole("button", { name: "Delete model" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(`${hostileNames.length + 8} API keys lose access`).waitFor();
  await dialog.getByText(", and 8 more").waitFor();
  await dialog.getByText("Fallbacks are removed from house/spare.").waitFor();
  await assertAccessible(t, page);
  await dialog.getByLabel("Type house/main to confirm").fill("house/main");
  await dialog.getByRole("button", { name: "Delete model" }).click();
  await page.waitForURL("**/models");
  await page.getByText("house/main deleted").waitFor();
  await page.getByRole("link", { name: "house/main" }).waitFor({ state: "detached" });
  await page.goto("/models/house/main");
  await page.getByText("This model does not exist").waitFor();
});

browserTest("a model is added by hand with known facts filled in", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await addProvider(gateway, []);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/models/new?provider=${id}` });
  await page.getByLabel("Provider model ID").fill("gpt-4o-mini");
  await page.getByText("Leave fields empty to use the known values.").waitFor();
  t.is(await page.getByLabel("Output", { exact: true }).getAttribute("placeholder"), "0.6");
  await page.getByText("Clients send house/gpt-4o-mini as the model name").waitFor();
  await page.getByLabel("Model name").fill("mini");
  await page.getByLabel("Input", { exact: true }).fill("0.3");
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Add model" }).click();
  await page.waitForURL("**/models/house/mini");
  t.like(await gateway.admin.models.get.query({ slug: "house/mini" }), {
    upstreamModel: "gpt-4o-mini",
    contextWindow: 128_000,
    prices: { input: 0.3, output: 0.6, cachedInput: 0.075, cacheWrite: null },
  });

  await page.goto("/models/new");
  await page.getByRole("combobox", { name: "Provider", exact: true }).click();
  await page.getByRole("option", { name: "house" }).click();
  await page.getByLabel("Provider model ID").fill("something else");
  await page.getByLabel("Model name").fill("mini");
  await page.getByRole("button", { name: "Add model" }).click();
  await page.getByText("The model house/mini already exists.").waitFor();
  const name = page.getByLabel("Model name");
  t.is(await name.getAttribute("aria-invalid"), "true");
  await name.fill("");
  await page.getByText("Clients send house/something-else as the model name").waitFor();
  t.is(await name.getAttribute("aria-invalid"), null, "it is about another name");
  t.is(await page.getByText("The model house/mini already exists.").count(), 0);
  await page.getByLabel("Provider model ID").fill("mini");
  await page.getByRole("button", { name: "Add model" }).click();
  await page.getByText("The model house/mini already exists.").waitFor();
  await page.getByLabel("Provider model ID").fill("BigOne");
  await page.getByText("The model house/mini already exists.").waitFor({ state: "detached" });

  await name.fill("big one");
  await page.getByLabel("Provider model ID").fill("");
  await page.getByRole("button", { name: "Add model" }).click();
  await page.getByText("Use only letters, digits and . : @ + ~ / - _").waitFor();
  await page.getByText("The field is empty. Enter a value.").waitFor();
  t.true(await page.getByLabel("Provider model ID").evaluate((input) => input.matches(":focus")));
  await assertAccessible(t, page);
});

/** Creates the provider `house` with the OpenAI preset, so that prices of its models are known. */
async function addProvider(gateway: TestGateway, models: string[]) {
  const provider = await gateway.admin.providers.create.mutate({
    name: "house",
    kind: "openai-compatible",
    preset: "openai",
    baseUrl: "http://127.0.0.1:1/v1",
  });
  await gateway.admin.providers.addModels.mutate({ id: provider.id, models });
  return provider;
}
