import { readFileSync } from "node:fs";
import test from "ava";
import { type OpenApiDocument, readReference } from "../../console/src/lib/reference/read-reference.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openConsole, openSignedIn, shareBrowser } from "../helpers/chromium.ts";
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

  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByText("expires in 59 minutes").waitFor();
  await assertAccessible(t, page);
  await page.getByRole("link", { name: "Playground", exact: true }).first().click();
  await page.getByLabel("Your message").waitFor();
  await page.getByRole("button", { name: "Change key" }).click();
  await page.getByText("can use every model that you can connect, for one hour").waitFor();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Use temporary key" }).click();
  await page.getByLabel("Your message").waitFor();
  t.is((await gateway.admin.keys.list.query({ search: "Playground" })).items.length, 1);
  t.notRegex(
    await page.evaluate<string>("JSON.stringify([localStorage, sessionStorage])"),
    /sk-gateway/,
    "the value is stored nowhere",
  );

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

browserTest("the API reference is readable without signing in", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openConsole(t, { browser: browser(), gateway, path: "/docs" });
  await page.getByRole("heading", { name: "Chat completions" }).waitFor();
  t.is(await page.title(), "API reference · Model Gateway");
  t.is(new URL(page.url()).pathname, "/docs");
  const chat = page.getByRole("region", { name: "Chat completions", exact: true });
  t.regex(await chat.innerText(), /max_completion_tokens\s*integer or null, 1 or more/);
  for (const summary of await chat.locator("summary").all()) await summary.click();
  await chat.getByText("A budget of the key, its owner or the gateway is exceeded.").waitFor();
  await assertAccessible(t, page);

  await page.getByRole("navigation").getByRole("link", { name: "Count tokens" }).click();
  await page.waitForURL(/#countTokens$/);
  await page.getByRole("link", { name: "openapi.json" }).click();
  await page.waitForURL("**/openapi.json");
  t.regex(await page.content(), /"openapi":"3\.1/);
});

browserTest("the examples run as written", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  const page = await openConsole(t, { browser: browser(), gateway, path: "/docs" });
  await page.getByRole("heading", { name: "Messages", exact: true }).waitFor();
  const example = await page.getByRole("region", { name: "example for Messages" }).innerText();
  const [, address = ""] = /^curl (\S+)/.exec(example) ?? [];
  const [, body = ""] = /-d '(.*)'/.exec(example) ?? [];
  t.is(address, `${gateway.url}/v1/messages`);
  const headers = { authorization: `Bearer ${value}`, "content-type": "application/json" };
  const answer = await fetch(address, { method: "POST", headers, body });
  t.is(answer.status, 200);
});

browserTest("a signed-in person finds the reference and the way back", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway });
  await page.getByRole("link", { name: "API reference" }).click();
  await page.getByRole("heading", { name: "API reference" }).waitFor();
  await page.getByRole("link", { name: "Open console" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  t.pass();
});

test("every operation and parameter of the document is shown", (t) => {
  const file = new URL("../../gateway/v1/open-api/openapi.json", import.meta.url);
  const document = JSON.parse(readFileSync(file, "utf8")) as OpenApiDocument;
  const { groups } = readReference(document);
  const operations = groups.flatMap((group) => group.operations);
  t.is(operations.length, Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length);
  for (const { id, description, parameters, answer } of operations) {
    t.truthy(description, id);
    t.true(answer.length > 0, id);
    for (const { name, type, description: said } of parameters) {
      t.notRegex(type, /undefined|anything/, `${id} ${name}`);
      t.true(said !== "" || /[.[]/.test(name), `${id} ${name}`);
    }
  }
  t.true(operations.some(({ answer }) => answer.some(({ name }) => name === "choices[].message.content")));
});
