import test, { type ExecutionContext } from "ava";
import type { Page } from "playwright-core";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser, visit } from "../helpers/chromium.ts";
import { hostileNames } from "../helpers/hostile-names.ts";
import { randomUsage } from "../helpers/random-usage.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";
import { addNamedModels } from "./add-named-models.ts";

const browser = shareBrowser(test);

browserTest("prices, sizes and the upstream name are edited; empty is unknown, 0 is free", async (t) => {
  const { gateway, page } = await openModel(t, ["open/weights", "gpt-4o"]);
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
  const { gateway, page } = await openModel(t, ["main", "first", "second", "third"]);
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

browserTest("the later of two tabs decides, and an error about a selection ends with it", async (t) => {
  const { gateway, page } = await openModel(t, ["main", "spare", "gone", "other"]);
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

  await page.getByRole("button", { name: "Undo changes" }).click();
  await visit(page, "/models/house/other");
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
  await visit(page, `/models/new?provider=${id}`);
  await page.getByLabel("Provider model ID").fill("small");
  await gateway.admin.providers.delete.mutate({ id });
  await page.getByRole("button", { name: "Add model" }).click();
  const noProvider = page.getByText("No provider has this ID. Reload the list of providers.");
  await noProvider.waitFor();
  const provider = page.getByRole("combobox", { name: "Provider", exact: true });
  t.is(await provider.getAttribute("aria-invalid"), "true");
  await choose("Provider", "house");
  await noProvider.waitFor({ state: "detached" });
  t.is(await provider.getAttribute("aria-invalid"), null);
});

browserTest("deleting a model lists the keys that use it", async (t) => {
  const gateway = await startTestGateway(t);
  await addNamedModels(gateway, "house", ["main", "spare"]);
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
  // The message disappears after some seconds.
  const message = page.getByText("house/main deleted");
  await Promise.all([message.waitFor(), dialog.getByRole("button", { name: "Delete model" }).click()]);
  await page.waitForURL("**/models");
  await page.getByRole("link", { name: "house/main" }).waitFor({ state: "detached" });
  await visit(page, "/models/house/main");
  await page.getByText("This model does not exist").waitFor();
});

browserTest("a model is added by hand with known facts filled in", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await addNamedModels(gateway, "house", [], "openai");
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

  await visit(page, "/models/new");
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

/** Opens the first of the models of a provider `house`. Its preset makes the prices of known models known. */
async function openModel(t: ExecutionContext, models: string[], prices?: object) {
  const gateway = await startTestGateway(t);
  await addNamedModels(gateway, "house", models, "openai");
  const slug = `house/${models[0]}`;
  if (prices) await gateway.admin.models.update.mutate({ slug, prices });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/models/${slug}` });
  return { gateway, page, slug };
}

const summaryOf = (page: Page, count = "") =>
  page.locator("summary").filter({ hasText: "Advanced prices" }).filter({ hasText: count });

const hours = { when: { hours: { from: "01:00", to: "04:00" } }, prices: { input: 9 } };

browserTest("three prices are visible, and the others open by keyboard", async (t) => {
  const { gateway, page, slug } = await openModel(t, ["weights"], { input: 1, output: 2, rules: [hours] });
  await page.getByLabel("Cached input", { exact: true }).waitFor();
  const hourWrite = page.getByLabel("1-hour cache write");
  t.false(await hourWrite.isVisible());
  await assertAccessible(t, page);

  await summaryOf(page, "1 set").focus();
  await page.keyboard.press("Enter");
  await hourWrite.fill("4");
  await page.getByLabel("Web search").fill("10");
  await page.getByText("01:00 to 04:00 UTC: input $9.00").waitFor();
  await page.getByRole("button", { name: "Add condition" }).press("Enter");
  await page.keyboard.type("priority");
  const tier = page.getByRole("group", { name: "Condition 2" });
  await tier.getByLabel("All prices ×").fill("2.5");
  await page.getByRole("button", { name: "Add condition" }).click();
  const long = page.getByRole("group", { name: "Condition 3" });
  await long.getByLabel("Applies to").click();
  await page.getByRole("option", { name: "Prompts longer than" }).click();
  await long.getByLabel("Tokens", { exact: true }).fill("272,000");
  await long.getByLabel("Input price", { exact: true }).fill("5");
  await long.getByLabel("Excess tokens only").check();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Model saved").waitFor();
  const stored = [
    hours,
    { when: { serviceTier: "priority" }, factor: 2.5 },
    { when: { inputTokensAbove: 272_000 }, prices: { input: 5 }, part: "above" },
  ];
  const { prices } = await gateway.admin.models.get.query({ slug });
  t.like(prices, { input: 1, output: 2, cachedInput: null, cacheWrite1h: 4, webSearch: 10 });
  t.deepEqual(prices.rules, stored);

  await page.reload();
  await summaryOf(page, "5 set").click();
  await page.getByRole("button", { name: "Remove condition 1" }).click();
  await page.getByRole("button", { name: "Add condition" }).and(page.locator(":focus")).waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Model saved").waitFor();
  const { prices: left } = await gateway.admin.models.get.query({ slug });
  t.deepEqual(left.rules, stored.slice(1));
});

browserTest("an invalid condition opens the advanced prices and says what to do", async (t) => {
  const { page } = await openModel(t, ["weights"], { input: 1, output: 2 });
  const summary = summaryOf(page);
  await summary.click();
  await page.getByRole("button", { name: "Add condition" }).click();
  await summary.click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The field is empty. Enter a value.").waitFor();
  const field = page.getByRole("group", { name: "Condition 1" }).getByLabel("Value");
  await field.and(page.locator(":focus")).waitFor();
  await field.fill("flex");
  await page.getByRole("button", { name: "Save" }).click();
  const refusal = "The rule has no prices and no factor. Set prices or a factor.";
  await page.getByRole("alert").filter({ hasText: refusal }).waitFor();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Undo changes" }).click();
  await field.waitFor({ state: "detached" });
});

browserTest("known tiers are shown for a new model and taken over for an old one", async (t) => {
  const { gateway, page, slug } = await openModel(t, ["gpt-5.4"], { input: 2.5, rules: [] });
  await page.getByRole("button", { name: "Use known values" }).click();
  await summaryOf(page).click();
  t.is(await page.getByLabel("Tokens", { exact: true }).inputValue(), "272000");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Model saved").waitFor();
  const { rules } = (await gateway.admin.models.get.query({ slug })).prices;
  t.true((rules ?? []).some(({ when }) => when.serviceTier === "priority"));

  await gateway.admin.models.update.mutate({ slug, prices: { rules: [] } });
  const { revision } = await gateway.admin.models.get.query({ slug });
  await page.getByLabel("Input", { exact: true }).fill("3");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").getByText("The list of conditions is now empty").waitFor();
  await page.getByRole("button", { name: "Discard my changes" }).click();
  t.is((await gateway.admin.models.get.query({ slug })).revision, revision);

  const { providerId } = await gateway.admin.models.get.query({ slug });
  await visit(page, `/models/new?provider=${providerId}`);
  await page.getByLabel("Provider model ID").fill("gpt-5.4-2026-03-05");
  await page.getByLabel("Model name").fill("dated");
  await page.getByLabel("Provider model ID").fill("gpt-5.4");
  await summaryOf(page).click();
  const known = page.getByRole("list", { name: "Known conditions" });
  await known.getByText("Prompts above 272,000 tokens: input $5.00").waitFor();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Add model" }).click();
  await page.waitForURL("**/models/house/dated");
  t.deepEqual((await gateway.admin.models.get.query({ slug: "house/dated" })).prices.rules, rules);
});

browserTest("a provider's and a key's charge factor are edited in their forms", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await addNamedModels(gateway, "house", ["weights"], "openai");
  const read = async () => (await gateway.admin.providers.list.query()).find((each) => each.id === id);
  const timeouts = (await read())?.timeouts;
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/providers/${id}` });
  const factor = page.getByLabel("Charge factor");
  await factor.fill("101");
  await page.getByLabel("Cost source").click();
  await page.getByRole("option", { name: "Provider's own figure" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("is too large. Use at most 100.").waitFor();
  await factor.fill("1.15");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Settings saved").waitFor();
  await assertAccessible(t, page);
  t.like(await read(), { costSource: "provider", chargeFactor: 1.15, timeouts });

  const { key } = await gateway.admin.keys.create.mutate({ name: "Charged", models: ["demo/echo"] });
  await visit(page, `/keys/${key.id}?tab=limits`);
  await factor.fill("0.9");
  await page.getByRole("button", { name: "Save charge" }).click();
  await page.getByText("Charge factor saved").waitFor();
  await assertAccessible(t, page);
  t.is((await gateway.admin.keys.get.query({ id: key.id })).chargeFactor, 0.9);
  await gateway.admin.keys.setChargeFactor.mutate({ id: key.id, chargeFactor: 2 });
  await factor.fill("");
  await page.getByRole("button", { name: "Save charge" }).click();
  await page.getByText("Someone else changed this factor to 2.").waitFor();
  await page.getByRole("button", { name: "Save charge" }).click();
  await page.getByText("Someone else changed this factor to 2.").waitFor({ state: "detached" });
  t.is((await gateway.admin.keys.get.query({ id: key.id })).chargeFactor, null);
});

browserTest("sums without a price read Unpriced, and other sums count the unpriced requests", async (t) => {
  const gateway = await startTestGateway(t);
  const random = seededRandom(1);
  const use = (model: string, cost: number | null) => ({
    ...randomUsage(random, new Date(Date.now() - 60_000), { keys: 1, models: 1, providers: 1, owners: 1 }),
    model,
    cost,
  });
  const insert = (records: ReturnType<typeof use>[]) =>
    gateway.services.database.write(({ usageRecords }) => usageRecords.insertAll(records));
  await insert([use("house/new", null), use("house/new", 0)]);
  const page = await openSignedIn(t, { browser: browser(), gateway });
  await page.getByRole("link", { name: /^Cost Unpriced 1 unpriced request/ }).waitFor();
  const spending = page.getByRole("region", { name: "Spending" });
  await spending.getByRole("link", { name: "Unpriced", exact: true }).waitFor();
  await page.getByRole("region", { name: "Top models" }).getByText("2 requests").waitFor();
  const total = page.locator("dt", { hasText: /^Cost$/ });
  await visit(page, "/usage");
  await total.locator('+ dd:text-is("Unpriced")').waitFor();
  await page.getByRole("cell", { name: "Unpriced", exact: true }).waitFor();
  await assertAccessible(t, page);

  await insert([use("house/old", null), use("house/old", 5_000_000)]);
  await page.setViewportSize({ width: 360, height: 780 });
  await page.goto("/usage");
  await total.locator('+ dd:text-is("$0.005")').waitFor();
  const row = page.getByRole("row").filter({ hasText: "house/old" });
  await row.getByRole("cell", { name: "$0.005 + 1 unpriced", exact: true }).waitFor();
  t.is(await page.evaluate("document.documentElement.scrollWidth"), 360);
  await assertAccessible(t, page);
});
