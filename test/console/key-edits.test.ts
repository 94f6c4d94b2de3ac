import test from "ava";
import { addModels } from "../helpers/add-models.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { becomePerson, openSignedIn, shareBrowser, visit } from "../helpers/chromium.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { keyOf, spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { administrator, createKey, startTestGateway, usageOf } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

/** Members read it before they type. */
const tightenOnly = "Only an administrator can loosen or remove a limit.";

browserTest("limits set on the key's page apply, show their usage and are removed", async (t) => {
  const gateway = await startTestGateway(t);
  const key = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${key.id}?tab=limits` });
  await page
    .getByText("When a budget is exceeded, in-flight requests finish and new requests return 402.")
    .waitFor();
  await page.getByLabel("Requests per minute").fill("2");
  await page.getByLabel("Daily budget").fill("1.5");
  await page.getByLabel("Expires on").fill("2099-01-31");
  await page.getByLabel("Allowed addresses").fill("127.0.0.1\n10.0.0/8");
  await page.getByRole("button", { name: "Save limits" }).click();
  await page.getByText("10.0.0/8 is not an IP address or range").waitFor();
  await page.getByLabel("Allowed addresses").fill("127.0.0.1\n::1");
  await page.getByRole("button", { name: "Save limits" }).click();
  await page.getByText("Limits saved.").waitFor();
  await assertAccessible(t, page);

  for (const status of [200, 200, 429])
    t.is((await postChat(gateway, key.value, chatBody("demo/echo"))).status, status);
  await page.getByText("2 of 2 used").waitFor();
  await page.reload();
  await page.getByText("$0.00 of $1.50 spent").waitFor();
  t.is(await page.getByLabel("Allowed addresses").inputValue(), "127.0.0.1\n::1");
  t.is(await page.getByText(tightenOnly).count(), 0);
  const stored = () => gateway.admin.keys.get.query({ id: key.id });
  t.is((await stored()).limits.budgetsUsd.day, 1.5);
  t.regex((await stored()).expiresAt ?? "", /^2099-0(1-31|2-01)T/);

  for (const label of ["Requests per minute", "Daily budget", "Expires on"])
    await page.getByLabel(label).fill("");
  await page.getByRole("button", { name: "Save limits" }).click();
  await page.getByText("Limits saved.").waitFor();
  const { limits, expiresAt } = await stored();
  t.deepEqual([limits.requestsPerMinute, limits.budgetsUsd.day, expiresAt], [null, null, null]);
  t.is((await postChat(gateway, key.value, chatBody("demo/echo"))).status, 200);
});

browserTest("budgets name the models that they do not cover, and are marked when spent", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: null });
  const { admin } = gateway;
  const unpriced = await createKey(gateway);
  await admin.models.update.mutate({ slug: "demo/echo", prices: { input: null, output: null } });
  await page.goto(`/keys/${unpriced.id}?tab=limits`);
  const warning = page.getByText("demo/echo is unpriced and won't count toward budgets.");
  const budget = page.getByLabel("Monthly budget");
  await budget.waitFor();
  t.is(await warning.count(), 0, "there is no budget");
  await budget.fill("5");
  await warning.waitFor();
  await assertAccessible(t, page);
  await budget.fill("");
  await visit(page, `/keys/${unpriced.id}`);
  await page.getByRole("button", { name: "Edit models" }).click();
  await page.getByText("unpriced", { exact: true }).first().waitFor();
  await visit(page, `/keys/${unpriced.id}?tab=limits`);
  await admin.models.update.mutate({ slug: "demo/echo", prices: { input: 0, output: 0 } });
  await page.reload();
  await budget.fill("5");
  await page.waitForLoadState("networkidle");
  t.is(await warning.count(), 0, "it is free");
  await budget.fill("");

  await admin.models.update.mutate({ slug: "demo/echo", prices: { input: 1000, output: 3000 } });
  const spent = await createKey(gateway);
  await admin.keys.rename.mutate({ id: spent.id, name: "Spender" });
  await postChat(gateway, spent.value, chatBody("demo/echo"));
  await eventually(async () => (await usageOf(gateway, spent.id)).length === 1);
  await visit(page, `/keys/${spent.id}?tab=limits`);
  await page.getByLabel("Daily budget").fill("0.001");
  await page.getByLabel("Lifetime budget").fill("1000");
  await page.getByRole("button", { name: "Save limits" }).click();
  await page.getByText("This key exceeded a budget.").waitFor();
  await page.getByText("of $0.001 per day.").waitFor();
  await page.locator("header").getByText("Budget exceeded").waitFor();
  t.regex((await page.getByText(/of \$0\.001 spent/).getAttribute("class")) ?? "", /warn/);
  t.notRegex((await page.getByText(/of \$1,000\.00 spent/).getAttribute("class")) ?? "", /warn/);
  await assertAccessible(t, page);
  await visit(page, "/keys");
  await page.getByRole("row", { name: "Spender" }).getByText("Budget exceeded").click();
  await page.getByLabel("Daily budget").fill("");
  await page.getByRole("button", { name: "Save limits" }).click();
  await page.getByText("This key exceeded a budget.").waitFor({ state: "detached" });
  t.is((await postChat(gateway, spent.value, chatBody("demo/echo"))).status, 200);
});

browserTest("all invalid limits are reported at their fields, and warnings keep their budget", async (t) => {
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
  await page.getByText(tightenOnly).waitFor();
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
  await page.getByText(tightenOnly).nth(1).waitFor();
  t.regex(await said("Allowed addresses"), /Only an administrator/, "as the gateway says it, at its field");
  await page.getByLabel("Allowed addresses").fill("127.0.0.1");
  await save.click();
  await page.getByText("Limits saved.").waitFor();
  t.is((await gateway.admin.keys.get.query({ id })).limits.requestsPerMinute, 1_000);

  const { admin } = gateway;
  const criteria = { name: "Raised", models: ["demo/echo"], limits: { budgetsUsd: { day: 0.01 } } };
  const { key, value } = await admin.keys.create.mutate(criteria);
  t.is((await spendCent(gateway, value)).status, 200);
  const warned = async () => (await admin.keys.usage.query({ id: key.id })).warnings.length > 0;
  await eventually(warned);
  await becomePerson(page, administrator, `/keys/${key.id}`);
  await page.getByText("This key exceeded a budget.").waitFor();
  const remedy = page.getByRole("main").getByText("Change budgets under");
  await remedy.getByRole("link", { name: "Limits" }).click();
  await page.getByLabel("Daily budget").fill("5");
  await page.getByRole("button", { name: "Save limits" }).click();
  await page.getByText("This key exceeded a budget.").waitFor({ state: "detached" });
  const warnings = page.getByRole("region", { name: "Budget warnings" });
  await warnings.getByText("Spending reached 100% of the $0.01 daily budget").waitFor();
  await page.setViewportSize({ width: 360, height: 700 });
  t.true(await page.evaluate("document.documentElement.scrollWidth <= 360"));
  await assertAccessible(t, page);
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

browserTest("of two editors of a key, the later decides, and only about the same part", async (t) => {
  const gateway = await startTestGateway(t);
  await addModels(gateway, "many", 3);
  const page = await openSignedIn(t, { browser: browser(), gateway });
  for (const [choice, expected] of [
    ["Keep both", ["many/model-1", "many/model-2"]],
    ["Keep mine", ["demo/echo", "many/model-2"]],
    ["Discard my changes", ["many/model-1"]],
  ] as const) {
    const { id } = await createKey(gateway, ["demo/echo"]);
    await visit(page, `/keys/${id}`);
    await page.getByRole("button", { name: "Edit models" }).click();
    await page.getByRole("checkbox", { name: "many/model-2" }).check();
    await gateway.admin.keys.setModels.mutate({ id, models: ["many/model-1"] });
    await page.getByRole("button", { name: "Save models" }).click();
    const notice = page.getByRole("alert").filter({ hasText: "while you were editing" });
    t.regex(await notice.innerText(), /Added meanwhile: many\/model-1\s+Removed meanwhile: demo\/echo/);
    t.true(await page.getByRole("checkbox", { name: "many/model-2" }).isChecked());
    t.deepEqual((await gateway.admin.keys.get.query({ id })).models, ["many/model-1"]);
    await assertAccessible(t, page);

    await page.getByRole("button", { name: choice }).click();
    if (choice !== "Discard my changes") await page.getByRole("button", { name: "Save models" }).click();
    await page.getByRole("button", { name: "Edit models" }).waitFor();
    t.deepEqual((await gateway.admin.keys.get.query({ id })).models, expected, choice);
  }

  const { id } = await createKey(gateway, ["demo/echo"]);
  await visit(page, `/keys/${id}`);
  await page.getByRole("button", { name: "Edit models" }).click();
  await page.getByRole("checkbox", { name: "many/model-1" }).check();
  await gateway.admin.keys.rename.mutate({ id, name: "Renamed meanwhile" });
  await page.getByRole("button", { name: "Save models" }).click();
  await page.getByRole("button", { name: "Edit models" }).waitFor();
  await page.getByRole("heading", { name: "Renamed meanwhile" }).waitFor();
  t.deepEqual((await gateway.admin.keys.get.query({ id })).models, ["demo/echo", "many/model-1"]);

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

browserTest("members see what an administrator decided, and only administrators revert it", async (t) => {
  const gateway = await startTestGateway(t);
  const { models, providers, keys } = gateway.admin;
  const [demo] = await providers.list.query();
  for (const slug of ["demo/second", "demo/third"]) {
    await models.create.mutate({ slug, providerId: demo?.id ?? "", upstreamModel: "echo" });
  }
  const grace = await addPerson(gateway, "grace@example.com");
  const connected = ["demo/echo", "demo/second", "demo/third"];
  const add = async () =>
    (await keys.create.mutate({ name: "Hers", ownerId: grace.id, models: connected })).key.id;

  let id = await add();
  await keys.deactivate.mutate({ id });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}`, ...grace });
  await page.getByText("An administrator deactivated this key.").waitFor();
  await page.getByText("Deactivated by administrator").waitFor();
  await page.getByRole("button", { name: "Rotate" }).waitFor();
  t.is(await page.getByRole("button", { name: "Activate" }).count(), 0);
  await assertAccessible(t, page);

  await visit(page, "/keys");
  await page.getByText("Deactivated by administrator").waitFor();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Actions for Hers" }).click();
  const item = page.getByRole("menuitem", { name: "Activate" });
  t.is(await item.getAttribute("aria-disabled"), "true");

  await becomePerson(page, administrator, `/keys/${id}`);
  await page.getByRole("button", { name: "Activate" }).click();
  await page.getByText("An administrator deactivated this key.").waitFor({ state: "detached" });
  t.is((await keys.get.query({ id })).status, "active");

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

  id = await add();
  await grace.console.keys.deactivate.mutate({ id });
  await becomePerson(page, grace, `/keys/${id}`);
  const activate = page.getByRole("button", { name: "Activate" });
  await activate.waitFor();
  await keys.deactivate.mutate({ id });
  await activate.click();
  await page.getByText("Ask an administrator to activate it.").waitFor();
  t.is((await keys.get.query({ id })).status, "disabled");

  id = await add();
  await keys.setModels.mutate({ id, models: ["demo/echo"] });
  await grace.console.keys.setModels.mutate({ id, models: [] });
  await keys.setModels.mutate({ id, models: ["demo/third"] });
  await visit(page, `/keys/${id}`);
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
