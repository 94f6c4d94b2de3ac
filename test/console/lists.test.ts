import test from "ava";
import { addModels } from "../helpers/add-models.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);
const focused = "document.activeElement.ariaLabel ?? document.activeElement.id";

browserTest("keys are searched, filtered and paged, and the URL keeps the state", async (t) => {
  const gateway = await startTestGateway(t);
  for (let number = 0; number < 60; number++)
    await gateway.admin.keys.create.mutate({ name: `Key ${number}` });
  const { key } = await gateway.admin.keys.create.mutate({ name: "Laptop" });
  await gateway.admin.keys.deactivate.mutate({ id: key.id });

  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  await page.getByRole("link", { name: "Laptop" }).waitFor();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("link", { name: "Key 0", exact: true }).waitFor();
  t.regex(page.url(), /\?after=key_/);
  await page.goBack();
  await page.getByRole("link", { name: "Laptop" }).waitFor();

  await page.getByRole("searchbox").fill("lap");
  await page.getByRole("link", { name: "Key 59" }).waitFor({ state: "detached" });
  t.is(new URL(page.url()).search, "?search=lap");
  await page.reload();
  await page.getByRole("link", { name: "Laptop" }).waitFor();
  t.is(await page.getByRole("searchbox").inputValue(), "lap");
  await page.getByLabel("Status").click();
  await page.getByRole("option", { name: "Deactivated (1)" }).waitFor();
  await page.getByRole("option", { name: "Active (0)" }).click();
  await page.getByText("No keys match").waitFor();
  await page.getByRole("link", { name: "Clear filters" }).click();
  await page.getByRole("link", { name: "Laptop" }).waitFor();
  t.is(await page.getByRole("searchbox").inputValue(), "");
  await page.getByText("Any status (62)").waitFor();
});

browserTest("the model filter finds the keys that may use it", async (t) => {
  const gateway = await startTestGateway(t);
  const slugs = await addModels(gateway, "many", 120);
  await gateway.admin.keys.create.mutate({ name: "Few", models: slugs.slice(0, 2) });
  await gateway.admin.keys.create.mutate({ name: "Many", models: slugs });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  await page.getByText("and 118 more").waitFor();
  await page.getByRole("combobox", { name: "Model" }).click();
  await page.getByText("Type to filter.").waitFor();
  await assertAccessible(t, page);
  await page.getByRole("combobox", { name: "Model" }).fill("model-77");
  await page.getByRole("option", { name: "many/model-77" }).click();
  await page.getByRole("link", { name: "Few" }).waitFor({ state: "detached" });
  t.is(new URL(page.url()).search, "?model=many%2Fmodel-77");
  await page.getByText("Any status (1)").waitFor();
  await page.reload();
  await page.getByRole("link", { name: "Many" }).waitFor();
  t.is(await page.getByRole("combobox", { name: "Model" }).inputValue(), "many/model-77");
  await page.getByRole("combobox", { name: "Model" }).fill("any");
  await page.getByRole("option", { name: "Any model" }).click();
  await page.getByRole("link", { name: "Few" }).waitFor();
  t.is(new URL(page.url()).search, "");
});

browserTest("the row menu deactivates, activates, copies the id, deletes and keeps focus", async (t) => {
  const gateway = await startTestGateway(t);
  const { id, value } = await createKey(gateway);
  const status = async () => (await postChat(gateway, value, chatBody("demo/echo"))).status;
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  const row = page.getByRole("row").filter({ hasText: "Test key" });
  const choose = async (item: string) => {
    await row.getByRole("button", { name: "Actions for Test key" }).press("Enter");
    await page.getByRole("menuitem", { name: item }).press("Enter");
  };
  await choose("Copy ID");
  await page.getByText("ID copied").waitFor();
  t.is(await page.evaluate("navigator.clipboard.readText()"), id);

  await choose("Deactivate");
  await page.getByRole("dialog").getByRole("button", { name: "Deactivate" }).press("Enter");
  await row.getByText("Deactivated").waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  t.is(await page.evaluate(focused), "Actions for Test key");
  t.is(await status(), 401);
  await choose("Activate");
  await row.getByText("Active").waitFor();
  t.is(await status(), 200);

  await choose("Delete");
  await page.getByLabel("Type Test key to confirm").fill("Test key");
  await assertAccessible(t, page);
  await page.keyboard.press("Enter");
  await row.waitFor({ state: "detached" });
  await page.getByRole("dialog").waitFor({ state: "detached" });
  t.is(await page.evaluate(focused), "main");
  t.is(await status(), 401);
});

browserTest("administrators filter keys by owner, and members see only their own", async (t) => {
  const gateway = await startTestGateway(t);
  await createKey(gateway);
  const grace = await addPerson(gateway, "grace@example.com");
  await grace.console.keys.create.mutate({ name: "Hers" });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  await page.getByRole("cell", { name: "Ada" }).waitFor();
  await page.goto(`/keys?owner=${grace.id}`);
  await page.getByRole("link", { name: "Hers" }).waitFor();
  t.is(await page.getByRole("link", { name: "Test key" }).count(), 0);
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Clear owner filter:" }).click();
  await page.getByRole("link", { name: "Test key" }).waitFor();

  const theirs = await openSignedIn(t, { browser: browser(), gateway, path: "/keys", ...grace });
  await theirs.getByRole("link", { name: "Hers" }).waitFor();
  t.is(await theirs.getByRole("link", { name: "Test key" }).count(), 0);
  t.is(await theirs.getByRole("columnheader", { name: "Owner" }).count(), 0);
});

browserTest("the list of keys marks a spent budget", async (t) => {
  const gateway = await startTestGateway(t);
  const { admin } = gateway;
  const { id: modelId } = await admin.models.get.query({ slug: "demo/echo" });
  await admin.models.update.mutate({ id: modelId, prices: { input: 1, output: 3 } });
  const criteria = { name: "Spent", models: ["demo/echo"], limits: { budgetsUsd: { month: 1e-9 } } };
  const { key, value } = await admin.keys.create.mutate(criteria);
  await createKey(gateway);
  const percents = async () => (await admin.keys.list.query({})).items.map((item) => item.budgetSpentPercent);
  t.true((await percents()).every((percent) => percent === null));
  await postChat(gateway, value, chatBody("demo/echo"));
  await eventually(async () => (await percents()).includes(100));
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  await page.getByText("Budget exceeded").click();
  await page.waitForURL(`**/keys/${key.id}?tab=limits`);
  await admin.keys.setLimits.mutate({ id: key.id, limits: { budgetsUsd: { month: 5 } } });
  t.true(
    (await percents()).every((percent) => percent === null),
    "of the new budget little is spent",
  );
});

browserTest("models are searched, filtered and paged, and the URL keeps the state", async (t) => {
  const gateway = await startTestGateway(t);
  await addPricedModels(
    gateway,
    "many",
    Array.from({ length: 60 }, (_, number) => `model-${100 + number}`),
  );
  await addPricedModels(gateway, "few", ["gpt-4o"], "openai");
  await gateway.admin.keys.create.mutate({ name: "Laptop", models: ["few/gpt-4o"] });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/models" });
  const row = page.getByRole("row", { name: /few\/gpt-4o/ });
  await row.waitFor();
  t.deepEqual(await row.getByRole("cell").allInnerTexts(), [
    "few/gpt-4o",
    "gpt-4o",
    "128K",
    "$2.50",
    "$1.25",
    "$10.00",
    "1",
  ]);
  const unknown = page.getByRole("row", { name: /many\/model-100/ });
  t.is(await unknown.getByText("unknown", { exact: true }).count(), 4);
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("link", { name: "many/model-159" }).waitFor();
  t.regex(page.url(), /\?after=many%2Fmodel-/);
  await page.goBack();
  await row.waitFor();

  await page.getByRole("searchbox").fill("model-12");
  await row.waitFor({ state: "detached" });
  t.is(new URL(page.url()).search, "?search=model-12");
  await page.reload();
  await page.getByRole("link", { name: "many/model-129" }).waitFor();
  await page.getByRole("combobox", { name: "Provider" }).click();
  await page.getByRole("combobox", { name: "Provider" }).fill("fe");
  await page.getByRole("option", { name: "few" }).click();
  await page.getByText("No models match").waitFor();
  await page.getByRole("link", { name: "Clear filters" }).click();
  await row.waitFor();
});

browserTest("a member sees models and prices read-only", async (t) => {
  const gateway = await startTestGateway(t);
  await addPricedModels(gateway, "few", ["gpt-4o", "spare"], "openai");
  await gateway.admin.models.update.mutate({ slug: "few/gpt-4o", fallbacks: ["few/spare", "demo/echo"] });
  await gateway.admin.keys.create.mutate({ name: "Not a member's", models: ["few/gpt-4o"] });
  const member = await addPerson(gateway, "member@example.com");
  await member.console.keys.create.mutate({ name: "My own", models: ["few/gpt-4o"] });
  const { email, password } = member;
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/models", email, password });
  await page.getByRole("link", { name: "few/gpt-4o" }).waitFor();
  t.is(await page.getByRole("link", { name: "Add manually" }).count(), 0);
  await page.getByRole("combobox", { name: "Provider" }).click();
  await page.getByRole("option", { name: "few" }).click();
  await page.getByRole("link", { name: "demo/echo" }).waitFor({ state: "detached" });
  await assertAccessible(t, page);
  await page.getByRole("link", { name: "few/gpt-4o" }).click();
  await page.getByText("128,000 tokens").waitFor();
  await page.getByText("$2.50").waitFor();
  await page.getByRole("link", { name: "few/spare" }).waitFor();
  await page.getByRole("link", { name: "My own" }).waitFor();
  t.is(await page.getByText("Not a member's").count(), 0);
  t.is(await page.getByRole("textbox").count(), 0);
  t.is(await page.getByRole("button", { name: /Delete|Save/ }).count(), 0);
  await assertAccessible(t, page);
  await page.reload();
  await page.getByRole("heading", { name: "few/gpt-4o" }).waitFor();
});

browserTest("a newcomer without models reads what to do", async (t) => {
  const gateway = await startTestGateway(t);
  await gateway.admin.models.delete.mutate({ slug: "demo/echo" });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/models" });
  await page.getByText("No models yet").waitFor();
  await assertAccessible(t, page);
  await page.getByRole("link", { name: "Add provider" }).click();
  await page.waitForURL("**/providers/new");
});

async function addPricedModels(gateway: TestGateway, name: string, models: string[], preset?: string) {
  const { id } = await gateway.admin.providers.create.mutate({
    name,
    kind: "openai-compatible",
    preset,
    baseUrl: "http://127.0.0.1:1/v1",
  });
  await gateway.admin.providers.addModels.mutate({ id, models });
}
