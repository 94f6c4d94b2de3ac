import type { Page } from "playwright-core";
import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { randomUsage } from "../helpers/random-usage.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

async function addModel(gateway: TestGateway, upstreamModel: string, prices?: object): Promise<string> {
  const { id: providerId } = await gateway.admin.providers.create.mutate({
    name: "house",
    kind: "openai-compatible",
    preset: "openai",
    apiKey: "test-secret-0123456789",
  });
  const slug = `house/${upstreamModel}`;
  await gateway.admin.models.create.mutate({ slug, providerId, ...(prices && { prices }) });
  return slug;
}

const summaryOf = (page: Page, count = "") =>
  page.locator("summary").filter({ hasText: "Advanced prices" }).filter({ hasText: count });

const hours = { when: { hours: { from: "01:00", to: "04:00" } }, prices: { input: 9 } };

browserTest("three prices are visible, and the others open by keyboard", async (t) => {
  const gateway = await startTestGateway(t);
  const slug = await addModel(gateway, "weights", { input: 1, output: 2, rules: [hours] });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/models/${slug}` });
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
  const gateway = await startTestGateway(t);
  const slug = await addModel(gateway, "weights", { input: 1, output: 2 });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/models/${slug}` });
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
  await page
    .getByRole("alert")
    .filter({ hasText: "The rule has no prices and no factor. Set prices or a factor." })
    .waitFor();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Undo changes" }).click();
  await field.waitFor({ state: "detached" });
});

browserTest("known tiers are shown for a new model and taken over for an old one", async (t) => {
  const gateway = await startTestGateway(t);
  const slug = await addModel(gateway, "gpt-5.4", { input: 2.5, rules: [] });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/models/${slug}` });
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
  await page.goto(`/models/new?provider=${providerId}`);
  await page.getByLabel("Provider model ID").fill("gpt-5.4-2026-03-05");
  await page.getByLabel("Model name").fill("dated");
  await page.getByLabel("Provider model ID").fill("gpt-5.4");
  await summaryOf(page).click();
  await page
    .getByRole("list", { name: "Known conditions" })
    .getByText("Prompts above 272,000 tokens: input $5.00")
    .waitFor();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Add model" }).click();
  await page.waitForURL("**/models/house/dated");
  t.deepEqual((await gateway.admin.models.get.query({ slug: "house/dated" })).prices.rules, rules);
});

browserTest("a provider's and a key's charge factor are edited in their forms", async (t) => {
  const gateway = await startTestGateway(t);
  await addModel(gateway, "weights");
  const provider = (await gateway.admin.providers.list.query()).find(({ name }) => name === "house");
  const path = `/providers/${provider?.id}`;
  const page = await openSignedIn(t, { browser: browser(), gateway, path });
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
  const saved = (await gateway.admin.providers.list.query()).find(({ name }) => name === "house");
  t.like(saved, { costSource: "provider", chargeFactor: 1.15, timeouts: provider?.timeouts });

  const { key } = await gateway.admin.keys.create.mutate({ name: "Charged", models: ["demo/echo"] });
  await page.goto(`/keys/${key.id}?tab=limits`);
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
  await page.goto("/usage");
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
