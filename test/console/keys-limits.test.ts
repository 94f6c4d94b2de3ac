import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { eventually } from "../helpers/eventually.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { keyOf, spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { createKey, startTestGateway, usageOf } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("limits set on the key's page apply, and their usage is shown", async (t) => {
  const gateway = await startTestGateway(t);
  const key = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${key.id}?tab=limits` });
  await page
    .getByText("When a budget is exceeded, in-flight requests finish and new requests return 402.")
    .waitFor();
  await page.getByLabel("Requests per minute").fill("2");
  await page.getByLabel("Daily budget").fill("1.5");
  await page.getByLabel("Allowed addresses").fill("127.0.0.1\n10.0.0/8");
  await page.getByRole("button", { name: "Save limits" }).click();
  await page.getByText("10.0.0/8 is not an IP address or range").waitFor();
  await page.getByLabel("Allowed addresses").fill("127.0.0.1\n::1");
  await page.getByRole("button", { name: "Save limits" }).click();
  await page.getByText("Limits saved.").waitFor();
  await assertAccessible(t, page);

  const statuses = [];
  for (let request = 0; request < 3; request++) {
    statuses.push((await postChat(gateway, key.value, chatBody("demo/echo"))).status);
  }
  t.deepEqual(statuses, [200, 200, 429]);
  await page.getByText("2 of 2 used").waitFor();
  await page.reload();
  await page.getByText("$0.00 of $1.50 spent").waitFor();
  t.is(await page.getByLabel("Allowed addresses").inputValue(), "127.0.0.1\n::1");
  t.deepEqual((await gateway.admin.keys.get.query({ id: key.id })).limits.budgetsUsd.day, 1.5);
});

browserTest("all invalid limits are reported at once, each at its field", async (t) => {
  const gateway = await startPriced(t, {});
  const grace = await addPerson(gateway, "grace@example.com");
  const { id } = await keyOf(gateway, grace.id);
  await gateway.admin.keys.setLimits.mutate({ id, limits: { addressRanges: ["127.0.0.1"] } });
  const path = `/keys/${id}?tab=limits`;
  const page = await openSignedIn(t, { browser: browser(), gateway, path, ...grace });
  const save = page.getByRole("button", { name: "Save limits" });
  /** Returns the field's accessible description. */
  const said = (label: string) =>
    page.getByLabel(label).evaluate((field) =>
      (field.getAttribute("aria-describedby") ?? "")
        .split(" ")
        .map((id) => field.ownerDocument.getElementById(id)?.textContent ?? "")
        .join(" "),
    );
  await page.getByLabel("Requests per minute").fill("1.5");
  await page.getByLabel("Daily budget").fill("1,5");
  await page.getByLabel("Expires on").fill("2020-01-31");
  await page.getByLabel("Allowed addresses").fill("127.0.0.1\n10.0.0/8\n::1/129");
  await save.click();
  await page
    .getByText("is not a positive whole number. Enter a number such as 60, or leave the field empty.")
    .waitFor();
  t.regex(await said("Requests per minute"), /positive whole number\. Enter a number such as 60,/);
  t.regex(await said("Daily budget"), /US dollars, such as 12.50/);
  t.regex(await said("Expires on"), /The expiry date \d{4}-\d\d-\d\d is in the past/);
  t.regex(await said("Allowed addresses"), /10\.0\.0\/8, ::1\/129 are not IP addresses/);
  t.is(await page.locator(":focus").getAttribute("aria-invalid"), "true");
  await assertAccessible(t, page);

  await page.getByLabel("Requests per minute").fill("1,000");
  await page.getByLabel("Daily budget").fill("1.5");
  await page.getByLabel("Expires on").fill("");
  await page.getByLabel("Allowed addresses").fill("10.0.0.0/8\n2001:db8::/32");
  t.is(await page.locator("[aria-invalid]").count(), 0, "what is said of a text is not said of the next one");
  await save.click();
  await page.getByText("Only an administrator can loosen or remove a limit.").nth(1).waitFor();
  t.regex(await said("Allowed addresses"), /Only an administrator/, "as the gateway says it, at its field");
  await page.getByLabel("Allowed addresses").fill("127.0.0.1");
  await save.click();
  await page.getByText("Limits saved.").waitFor();
  t.is((await gateway.admin.keys.get.query({ id })).limits.requestsPerMinute, 1_000);
});

browserTest("emptying their fields removes limits", async (t) => {
  const gateway = await startTestGateway(t);
  const key = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${key.id}?tab=limits` });
  const save = async () => {
    await page.getByRole("button", { name: "Save limits" }).click();
    await page.getByText("Limits saved.").waitFor();
  };
  await page.getByLabel("Requests per minute").fill("2");
  await page.getByLabel("Lifetime budget").fill("0.05");
  await save();
  await page.reload();
  await page.getByText("$0.00 of $0.05 spent").waitFor();
  await page.getByLabel("Requests per minute").fill("");
  await page.getByLabel("Lifetime budget").fill("");
  await save();
  const { limits } = await gateway.admin.keys.get.query({ id: key.id });
  t.is(limits.requestsPerMinute, null);
  t.is(limits.budgetsUsd.total, null);
  t.is((await postChat(gateway, key.value, chatBody("demo/echo"))).status, 200);
});

browserTest("a key's expiry is changed and removed on its page", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}?tab=limits` });
  const expiresAt = async () => (await gateway.admin.keys.get.query({ id })).expiresAt;
  await page.getByLabel("Expires on").fill("2020-01-31");
  await page.getByRole("button", { name: "Save limits" }).click();
  await page.getByText(/The expiry date \d{4}-\d\d-\d\d is in the past\. Choose a later date\./).waitFor();
  await page.getByLabel("Expires on").fill("2099-01-31");
  await page.getByRole("button", { name: "Save limits" }).click();
  await page.getByText("Limits saved.").waitFor();
  t.regex((await expiresAt()) ?? "", /^2099-0(1-31|2-01)T/);
  const soon = new Date(Date.now() + 53 * 60_000);
  await gateway.admin.keys.setLimits.mutate({ id, expiresAt: soon.toISOString() });
  await page.reload();
  await page.getByText(/^Expires on .*:\d\d:\d\d.*\.$/).waitFor();
  await page.getByLabel("Expires").fill("2099-01-31");
  await page.getByLabel("Expires on").fill("");
  await page.getByRole("button", { name: "Save limits" }).click();
  await eventually(async () => (await expiresAt()) === null);
});

browserTest("models that no budget covers are named at the budget and the selection", async (t) => {
  const gateway = await startTestGateway(t);
  const { admin } = gateway;
  const { id: modelId } = await admin.models.get.query({ slug: "demo/echo" });
  await admin.models.update.mutate({ id: modelId, prices: { input: null, output: null } });
  const { id } = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}?tab=limits` });
  const warning = page.getByText("demo/echo is unpriced and won't count toward budgets.");
  const budget = page.getByLabel("Monthly budget");
  await budget.waitFor();
  t.is(await warning.count(), 0, "there is no budget");
  await budget.fill("5");
  await warning.waitFor();
  await assertAccessible(t, page);
  await budget.fill("");
  await page.goto(`/keys/${id}`);
  await page.getByRole("button", { name: "Edit models" }).click();
  await page.getByText("unpriced", { exact: true }).first().waitFor();
  await page.goto(`/keys/${id}?tab=limits`);
  await admin.models.update.mutate({ id: modelId, prices: { input: 0, output: 0 } });
  await page.reload();
  await budget.fill("5");
  await page.waitForLoadState("networkidle");
  t.is(await warning.count(), 0, "it is free");
});

browserTest("a budget below the current spending is marked as spent on the key's page", async (t) => {
  const gateway = await startTestGateway(t);
  const { admin } = gateway;
  const { id: modelId } = await admin.models.get.query({ slug: "demo/echo" });
  await admin.models.update.mutate({ id: modelId, prices: { input: 1000, output: 3000 } });
  const { id, value } = await createKey(gateway);
  await postChat(gateway, value, chatBody("demo/echo"));
  await eventually(async () => (await usageOf(gateway, id)).length === 1);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}?tab=limits` });
  await page.getByLabel("Daily budget").fill("0.001");
  await page.getByLabel("Lifetime budget").fill("1000");
  await page.getByRole("button", { name: "Save limits" }).click();
  await page.getByText("This key exceeded a budget.").waitFor();
  await page.getByText("of $0.001 per day.").waitFor();
  await page.locator("header").getByText("Budget exceeded").waitFor();
  t.regex((await page.getByText(/of \$0\.001 spent/).getAttribute("class")) ?? "", /warn/);
  t.notRegex((await page.getByText(/of \$1,000\.00 spent/).getAttribute("class")) ?? "", /warn/);
  await assertAccessible(t, page);
  await page.goto("/keys");
  await page.getByRole("row", { name: "Test key" }).getByText("Budget exceeded").click();
  await page.getByLabel("Daily budget").fill("");
  await page.getByRole("button", { name: "Save limits" }).click();
  await page.getByText("This key exceeded a budget.").waitFor({ state: "detached" });
  t.is((await postChat(gateway, value, chatBody("demo/echo"))).status, 200);
});

browserTest("a key shows when its owner's or the gateway's budget is spent", async (t) => {
  const gateway = await startPriced(t, {
    PERSON_BUDGET_USD_PER_MONTH_MAX: "0.01",
    GATEWAY_BUDGET_USD_PER_MONTH_MAX: "0.02",
  });
  const grace = await addPerson(gateway, "grace@example.com");
  const [first, second] = [await keyOf(gateway, grace.id), await createKey(gateway)];
  t.is((await spendCent(gateway, first.value)).status, 200);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${first.id}?tab=limits` });
  await page.getByText("The owner's keys exceeded their budget.").waitFor();
  await page.getByText("Spent $0.01 of $0.01 per month.").waitFor();
  await page.locator("header").getByText("Budget exceeded").waitFor();
  await page.getByRole("meter", { name: "Owner's keys, per month" }).waitFor();
  const ofGateway = page.getByRole("meter", { name: "Gateway, per month" });
  t.is(await ofGateway.getAttribute("aria-valuetext"), "$0.01 of $0.02 spent");
  await assertAccessible(t, page);

  t.is((await spendCent(gateway, second.value)).status, 200);
  await page.goto(`/keys/${second.id}`);
  await page.getByText("The gateway exceeded its budget.").waitFor();
  await page.getByText("Spent $0.02 of $0.02 per month.").waitFor();
  await page.locator("header").getByText("Budget exceeded").waitFor();
});

browserTest("warnings show the budget that they were sent for", async (t) => {
  const gateway = await startPriced(t, {});
  const { admin } = gateway;
  const criteria = { name: "Raised", models: ["demo/echo"], limits: { budgetsUsd: { day: 0.01 } } };
  const { key, value } = await admin.keys.create.mutate(criteria);
  t.is((await spendCent(gateway, value)).status, 200);
  const warned = async () => (await admin.keys.usage.query({ id: key.id })).warnings.length > 0;
  await eventually(warned);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${key.id}` });
  await page.getByText("This key exceeded a budget.").waitFor();
  await page
    .getByRole("main")
    .getByText("Change budgets under")
    .getByRole("link", { name: "Limits" })
    .click();
  await page.getByLabel("Daily budget").fill("5");
  await page.getByRole("button", { name: "Save limits" }).click();
  await page.getByText("This key exceeded a budget.").waitFor({ state: "detached" });
  const warnings = page.getByRole("region", { name: "Budget warnings" });
  await warnings.getByText("Spending reached 100% of the $0.01 daily budget").waitFor();
  await page.setViewportSize({ width: 360, height: 700 });
  t.true(await page.evaluate("document.documentElement.scrollWidth <= 360"));
  await assertAccessible(t, page);
});

browserTest("members read in advance that they can only tighten limits", async (t) => {
  const gateway = await startPriced(t, {});
  const grace = await addPerson(gateway, "grace@example.com");
  const { id } = await keyOf(gateway, grace.id);
  const path = `/keys/${id}?tab=limits`;
  const rule = "Only an administrator can loosen or remove a limit.";
  const ofMember = await openSignedIn(t, { browser: browser(), gateway, path, ...grace });
  await ofMember.getByText(rule).waitFor();
  const ofAdministrator = await openSignedIn(t, { browser: browser(), gateway, path });
  await ofAdministrator.getByLabel("Daily budget").waitFor();
  t.is(await ofAdministrator.getByText(rule).count(), 0);
});
