import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("models are searched, filtered and paged, and the URL keeps the state", async (t) => {
  const gateway = await startTestGateway(t);
  await addModels(
    gateway,
    "many",
    Array.from({ length: 60 }, (_, number) => `model-${100 + number}`),
  );
  await addModels(gateway, "few", ["gpt-4o"], "openai");
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
  await addModels(gateway, "few", ["gpt-4o", "spare"], "openai");
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

async function addModels(gateway: TestGateway, name: string, models: string[], preset?: string) {
  const { id } = await gateway.admin.providers.create.mutate({
    name,
    kind: "openai-compatible",
    preset,
    baseUrl: "http://127.0.0.1:1/v1",
  });
  await gateway.admin.providers.addModels.mutate({ id, models });
}
