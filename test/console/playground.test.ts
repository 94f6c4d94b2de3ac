import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { administrator, createKey, startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("a chat streams through /v1 with a pasted key, is counted, and can be stopped", async (t) => {
  const gateway = await startTestGateway(t);
  const model = await gateway.admin.models.get.query({ slug: "demo/echo" });
  await gateway.admin.models.update.mutate({ id: model.id, prices: { input: 1, output: 2 } });
  const key = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/playground" });
  await page.getByLabel("API key", { exact: true }).fill("sk-gateway-nonsense");
  await page.getByRole("button", { name: "Use this key" }).click();
  await page.getByRole("alert").waitFor();
  await assertAccessible(t, page);
  await page.getByLabel("API key", { exact: true }).fill("sk-gateway-…abcd");
  await page.getByRole("button", { name: "Use this key" }).click();
  await page.getByText("This key is incomplete.").waitFor();
  await page.getByLabel("API key", { exact: true }).fill(key.value);
  await page.getByRole("button", { name: "Use this key" }).click();

  await page.getByLabel("Your message").fill("<b>Hello</b> there");
  await page.keyboard.press("Enter");
  await page.getByText(/tokens in · .* out · TTFT .* · \$0\.00/).waitFor();
  t.is(await page.locator("b").count(), 0);
  await assertAccessible(t, page);

  await page.getByText("Raw request").click();
  await page.getByLabel("System prompt").fill("Be brief.");
  const raw = JSON.parse(await page.getByRole("region", { name: "raw request" }).innerText());
  t.is(raw.model, "demo/echo");
  t.is(raw.messages[0].content, "Be brief.");
  t.is(raw.messages.length, 4);
  t.notRegex(JSON.stringify(raw), /sk-gateway/);

  for (const [label, field] of [
    ["Temperature", "temperature"],
    ["Max tokens", "max_completion_tokens"],
  ] as const) {
    const sent = async () =>
      JSON.parse(await page.getByRole("region", { name: "raw request" }).innerText())[field];
    await page.getByLabel(label).fill("1");
    t.is(await sent(), 1);
    await page.getByLabel(label).fill("");
    t.is(await sent(), undefined, "what is emptied is the model's own again");
  }

  await page.getByLabel("Your message").fill("/slow 300 " + "word ".repeat(200));
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped.").waitFor();
  await page.getByRole("button", { name: "Send" }).waitFor();
});

browserTest("a playground key is created by a click and expires automatically", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/playground" });
  await page.getByRole("button", { name: "Create temporary key" }).click();
  await page.getByLabel("Your message").fill("Hello");
  await page.keyboard.press("Enter");
  await page.getByText(/total \d/).waitFor();
  const { items } = await gateway.admin.keys.list.query({ search: "Playground" });
  t.regex(items[0]?.name ?? "", /^Playground \d\d:\d\d:\d\d$/, "two are told apart");
  const left = Date.parse(items[0]?.expiresAt ?? "") - Date.now();
  t.true(left > 3_500_000 && left <= 3_600_000);

  // A second visit reuses the key.
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByText("expires in 59 minutes").waitFor();
  await assertAccessible(t, page);
  await page.getByRole("link", { name: "Playground", exact: true }).first().click();
  await page.getByLabel("Your message").waitFor();
  await page.getByRole("button", { name: "Change key" }).click();
  await page.getByText("can use every model that you can connect. It expires after an hour").waitFor();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Use temporary key" }).click();
  await page.getByLabel("Your message").waitFor();
  t.is((await gateway.admin.keys.list.query({ search: "Playground" })).items.length, 1);
  t.notRegex(
    await page.evaluate<string>("JSON.stringify([localStorage, sessionStorage])"),
    /sk-gateway/,
    "the value is stored nowhere",
  );

  // A deleted key is replaced.
  await gateway.admin.keys.delete.mutate({ id: items[0]?.id ?? "" });
  await page.getByRole("button", { name: "Change key" }).click();
  await page.getByRole("button", { name: "Use temporary key" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByRole("button", { name: "Create temporary key" }).click();
  await page.getByLabel("Your message").waitFor();

  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("**/sign-in");
  const { email, password } = administrator;
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Playground", exact: true }).click();
  await page.getByRole("button", { name: "Create temporary key" }).waitFor();
});
