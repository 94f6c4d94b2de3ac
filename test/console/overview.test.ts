import { readFileSync } from "node:fs";
import test from "ava";
import { type OpenApiDocument, readReference } from "../../console/src/lib/reference/read-reference.ts";
import { writeExample } from "../../console/src/lib/reference/write-example.ts";
import type { UsageRecordRow } from "../../db/entities/usage-record.ts";
import { createId } from "../../gateway/ids.ts";
import { createLog } from "../../gateway/log.ts";
import { systemRuntime } from "../../gateway/runtime.ts";
import { addModel, answersWith, askModel } from "../helpers/add-model.ts";
import { addModels } from "../helpers/add-models.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { becomePerson, openConsole, openSignedIn, shareBrowser, visit } from "../helpers/chromium.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { freePort } from "../helpers/free-port.ts";
import { providerRow, usageRow, userRow } from "../helpers/open-test-database.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { keyOf, spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { administrator, createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";
import { choose } from "./console-actions.ts";

const browser = shareBrowser(test);

browserTest("the overview counts the last day, and a newcomer's steps disappear once done", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway });
  await page.getByRole("link", { name: "Add a provider" }).waitFor();
  await page.getByRole("link", { name: /^Requests 0/ }).waitFor();
  await assertAccessible(t, page);

  await addModels(gateway, "openai", 1);
  const key = await createKey(gateway);
  await postChat(gateway, key.value, chatBody("demo/echo"));
  await postChat(gateway, key.value, chatBody("demo/echo", "/fail 500"));
  await gateway.services.recorder.flush();
  await page.reload();
  await page.getByRole("link", { name: /^Requests 2/ }).waitFor();
  await page.getByRole("link", { name: /^Errors 1/ }).waitFor();
  const latency = /^Average latency [\d.]+ m?s p95 needs 20 requests \(\d+ so far\)/;
  await page.getByRole("link", { name: latency }).waitFor();
  t.is(await page.getByRole("heading", { name: "Next steps" }).count(), 0);
  t.is(await page.getByRole("heading", { name: "Budgets" }).count(), 0, "there are none");
  await page.getByRole("link", { name: /^Cost \$0\.00/ }).waitFor();
  t.is(await page.getByText("unknown").count(), 0, "the demo is free, not unpriced");
  await page.getByRole("listitem").filter({ hasText: "openai" }).getByText("Idle").waitFor();
  await assertAccessible(t, page);
  await page.getByRole("link", { name: /^Errors 1/ }).click();
  await page.waitForURL(/\/requests\?status=ERRORS$/);
  await page.getByRole("cell", { name: /^Failed / }).waitFor();
  t.is(await page.getByRole("row").count(), 2, "the errors behind the link");
});

browserTest("a long-time user sees no newcomer's steps after deleting the only key", async (t) => {
  const gateway = await startTestGateway(t);
  const upstream = await createUpstream(t, (_, response) => sendCompletion(response));
  const { id, value, model } = await connectUpstream(gateway, upstream, { name: "house" });
  t.is((await postChat(gateway, value, chatBody(model))).status, 200);
  await gateway.services.recorder.flush();
  await gateway.admin.keys.delete.mutate({ id });
  const page = await openSignedIn(t, { browser: browser(), gateway });
  await page.getByRole("link", { name: /^Requests 1/ }).waitFor();
  const health = page.getByRole("region", { name: "Provider health" });
  await health.getByRole("listitem").filter({ hasText: "house" }).waitFor();
  t.is(await page.getByRole("heading", { name: "Next steps" }).count(), 0);
});

browserTest(
  "a member's overview covers their own keys, hides providers and leads to the reference",
  async (t) => {
    const gateway = await startTestGateway(t);
    const key = await createKey(gateway);
    await postChat(gateway, key.value, chatBody("demo/echo"));
    await gateway.services.recorder.flush();
    const { email, password } = await addPerson(gateway, "grace@example.com");
    const page = await openSignedIn(t, { browser: browser(), gateway, email, password });
    await page.getByRole("link", { name: /^Requests 0/ }).waitFor();
    await page.getByRole("link", { name: "Create API key" }).waitFor();
    t.is(await page.getByRole("link", { name: "Add a provider" }).count(), 0);
    t.is(await page.getByRole("heading", { name: "Provider health" }).count(), 0);
    await assertAccessible(t, page);
    await page.getByRole("link", { name: "API reference" }).click();
    await page.getByRole("heading", { name: "API reference" }).waitFor();
    await page.getByRole("link", { name: "Open console" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  },
);

browserTest("spending of shared budgets is shown, to members only for their own keys", async (t) => {
  const now = Date.UTC(2027, 0, 30, 12);
  const environment = {
    PERSON_BUDGET_USD_PER_DAY_MAX: "0.02",
    GATEWAY_BUDGET_USD_PER_DAY_MAX: "1",
    GATEWAY_BUDGET_USD_PER_MONTH_MAX: "0.036",
  };
  const gateway = await startPriced(t, environment, { runtime: { now: () => now } });
  const { id, email, password } = await addPerson(gateway, "grace@example.com");
  const { value } = await keyOf(gateway, id);
  for (let cent = 0; cent < 2; cent++) t.is((await spendCent(gateway, value)).status, 200);
  t.is((await spendCent(gateway, (await createKey(gateway)).value)).status, 200);

  const page = await openSignedIn(t, { browser: browser(), gateway });
  const card = page.getByRole("region", { name: "Budgets" });
  for (const [label, spent, badge, from] of [
    ["Gateway, per day", "$0.03 of $1.00 spent", "3% of budget spent", "2027-01-31"],
    ["Gateway, per month", "$0.03 of $0.036 spent", "83% of budget spent", "2027-02-01"],
    ["All your keys, per day", "$0.01 of $0.02 spent", "50% of budget spent", "2027-01-31"],
  ] as const) {
    const item = card.getByRole("listitem").filter({ hasText: label });
    await item.getByText(`${spent} · resets on ${from} at 00:00 UTC`).waitFor();
    await item.getByText(badge, { exact: true }).waitFor();
    t.is(await item.getByRole("meter", { name: label }).getAttribute("aria-valuetext"), spent);
  }
  await assertAccessible(t, page);

  await becomePerson(page, { email, password }, "/");
  const item = page.getByRole("region", { name: "Budgets" }).getByRole("listitem");
  await item.getByText("Budget exceeded", { exact: true }).waitFor();
  await item.getByText("$0.02 of $0.02 spent · resets on 2027-01-31").waitFor();
  t.is(await item.count(), 1);
  await assertAccessible(t, page);
});

const { randomBytes } = systemRuntime(createLog("silent", { write: () => {} }));

const minuteMs = 60_000;

async function addRecords({ services }: TestGateway, records: [ago: number, Partial<UsageRecordRow>][]) {
  const rows = records.map(([minutesAgo, more]) => {
    const createdAt = Date.now() - minutesAgo * minuteMs;
    const id = createId("req", { now: () => createdAt, randomBytes });
    return usageRow(id, { createdAt: new Date(createdAt), cost: 0, ...more });
  });
  await services.database.write(({ usageRecords }) => usageRecords.insertAll(rows));
}

browserTest("the overview names the largest keys, models, people and errors, with links", async (t) => {
  const gateway = await startTestGateway(t);
  const person = "usr_00000000000000000000000001";
  await gateway.services.database.write(({ users }) => users.insert(userRow(person, { name: "Bob" })));
  const key = await createKey(gateway);
  const ofKey = { apiKeyId: key.id, apiKeyName: "Test key", ownerId: person };
  await addRecords(gateway, [
    [60, { ...ofKey, model: "house/large", cost: 3e9 }],
    [60, { model: "house/small", cost: 1e9, clientTool: "codex" }],
    [61, { ...ofKey, status: "FAILED", errorReason: "http_503", model: "house/large" }],
    [3 * 24 * 60, { ...ofKey, model: "house/old", cost: 9e9 }],
  ]);
  const page = await openSignedIn(t, { browser: browser(), gateway });
  await page.getByRole("link", { name: /^Requests 3/ }).waitFor();
  const top = (title: string) => page.getByRole("region", { name: title }).getByRole("listitem");
  await top("Top models").first().getByText("house/large").waitFor();
  t.regex(await top("Top keys").first().innerText(), /^Test key\s+\$3\.00$/);
  t.regex(await top("Top people").first().innerText(), /^Bob\s+\$3\.00$/);
  t.regex(await top("Errors by reason").first().innerText(), /HTTP status 503\s+1$/);
  const spending = page.getByRole("region", { name: "Spending" });
  await spending.getByText(/The forecast assumes \$\d\.\d\d per\s[^]*the last\s+[34] days\./).waitFor();
  await assertAccessible(t, page);

  await choose(page, "Period", "Last 7 days");
  await top("Top models").first().getByText("house/old").waitFor();
  await page.getByRole("link", { name: /^Requests 4/ }).waitFor();
  await top("Top people").first().getByRole("link").click();
  await page.waitForURL(
    (url) => url.pathname === "/usage" && url.search === `?period=7d&sort=cost&person=${person}`,
  );
  await page.getByRole("button", { name: "Person: Bob" }).waitFor();
  await page.goBack();
  await top("Errors by reason").first().getByRole("link").click();
  await page.waitForURL(/\/requests\?period=7d&status=ERRORS&reason=http_503$/);
  await page.getByRole("row").nth(1).waitFor();
  t.is(await page.getByRole("row").count(), 2);
});

browserTest("a provider's half-hours show failures and latency, and open their requests", async (t) => {
  const gateway = await startTestGateway(t);
  await gateway.services.database.write(({ providers }) =>
    providers.insert(providerRow("prv_1", { name: "house" })),
  );
  await addRecords(gateway, [
    [90, { provider: "house", latencyMs: 8_000 }],
    [90, { provider: "house", status: "FAILED", httpStatus: 503 }],
    [26 * 60, { provider: "house", latencyMs: 200 }],
  ]);
  const page = await openSignedIn(t, { browser: browser(), gateway });
  const strip = page.getByRole("list", { name: "house, 48 half-hours" });
  const cell = strip.getByRole("link", { name: /: 2 requests, 1 failed, average 8\.0 s$/ });
  await cell.hover();
  await page.getByText(/^house, .*: 2 requests, 1 failed, average 8\.0 s$/).waitFor();
  await page.getByRole("heading", { name: "Provider health" }).hover();
  await page.getByText(/^house, /).waitFor({ state: "detached" });
  t.is(await strip.getByRole("listitem").count(), 48);
  await assertAccessible(t, page);

  await strip.getByRole("link").last().focus();
  await page.keyboard.press("ArrowLeft");
  t.is(
    await page.evaluate(
      "document.activeElement.ariaLabel === document.activeElement.closest('ul').querySelectorAll('a')[46].ariaLabel",
    ),
    true,
  );

  await page.getByText(/^house, /).waitFor();
  await page.getByRole("button", { name: "Previous day" }).click();
  await page.getByText(/^house, /).waitFor({ state: "detached" });
  await strip.getByRole("link", { name: /: 1 request, 0 failed, average 200 ms$/ }).waitFor();
  await page.getByRole("button", { name: "Next day" }).click();
  await cell.click();
  await page.waitForURL(/\/requests\?provider=house&period=custom&from=.*&to=/);
  await page.getByRole("row").nth(2).waitFor();
  t.is(await page.getByRole("row").count(), 3);
});

browserTest("the overview lists keys that expire or were never used, and links to all of them", async (t) => {
  const gateway = await startTestGateway(t);
  const inDays = (days: number) => new Date(Date.now() + days * 24 * 60 * minuteMs).toISOString();
  await gateway.admin.keys.create.mutate({ name: "Trial", models: [], expiresAt: inDays(2) });
  for (let count = 0; count < 6; count++)
    await gateway.admin.keys.create.mutate({ name: `Spare ${count}`, models: [] });
  const page = await openSignedIn(t, { browser: browser(), gateway });
  const card = page.getByRole("region", { name: "Keys to check" });
  await card.getByRole("link", { name: "Expiring soon (1)" }).waitFor();
  await card.getByRole("listitem").filter({ hasText: "Trial" }).getByText("in 2 days").waitFor();
  await assertAccessible(t, page);
  await card.getByRole("link", { name: /^Never used \(\d\)$/ }).click();
  await page.waitForURL(/\/keys\?attention=unused&status=active$/);
  await page.getByRole("link", { name: "Spare 5" }).waitFor();
  t.is(await page.getByLabel("Status").innerText(), "Never used");
  await choose(page, "Status", "Expiring soon");
  await page.getByRole("link", { name: "Spare 5" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Trial" }).waitFor();
});

browserTest("a chat streams through /v1 with a pasted key, is counted, and can be stopped", async (t) => {
  const gateway = await startTestGateway(t);
  await gateway.admin.models.update.mutate({ slug: "demo/echo", prices: { input: 1, output: 2 } });
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
  t.true(left > 3_000_000 && left <= 3_600_000);

  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByText(/expires in 5\d minutes/).waitFor();
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
  await page.getByLabel("Email").fill(administrator.email);
  await page.getByLabel("Password").fill(administrator.password);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Playground", exact: true }).click();
  await page.getByRole("button", { name: "Create temporary key" }).waitFor();
});

browserTest(
  "the API reference is readable without signing in, in both themes, and its examples run",
  async (t) => {
    const gateway = await startTestGateway(t);
    const page = await openConsole(t, { browser: browser(), gateway, path: "/docs" });
    await page.getByRole("heading", { name: "Chat completions" }).waitFor();
    t.is(await page.title(), "API reference · Model Gateway");
    t.is(new URL(page.url()).pathname, "/docs");
    const chat = page.getByRole("region", { name: "Chat completions", exact: true });
    t.regex(await chat.innerText(), /max_completion_tokens\s*integer or null, 1 or more/);
    for (const summary of await chat.locator("summary").all()) await summary.click();
    await chat.getByText("A budget of the key, its owner, its team or the gateway is exceeded.").waitFor();
    await assertAccessible(t, page);

    const { value } = await createKey(gateway);
    const example = await page.getByRole("region", { name: "example for Messages" }).innerText();
    const [, address = ""] = /^curl (\S+)/.exec(example) ?? [];
    const [, body = ""] = /-d '(.*)'/.exec(example) ?? [];
    t.is(address, `${gateway.url}/v1/messages`);
    const headers = { authorization: `Bearer ${value}`, "content-type": "application/json" };
    t.is((await fetch(address, { method: "POST", headers, body })).status, 200, "it runs as written");

    await page.getByRole("button", { name: "Dark theme" }).waitFor();
    const isDark = () => page.locator("html").evaluate((element) => element.classList.contains("dark"));
    for (const colorScheme of ["dark", "light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const other = colorScheme === "dark" ? "Light theme" : "Dark theme";
      await page.getByRole("button", { name: other }).waitFor();
      t.is(await isDark(), colorScheme === "dark");
    }
    await page.getByRole("button", { name: "Light theme" }).click();
    await page.emulateMedia({ colorScheme: "light" });
    await page.emulateMedia({ colorScheme: "dark" });
    await page.getByRole("button", { name: "Dark theme" }).waitFor();
    t.false(await isDark());

    await page.getByRole("navigation").getByRole("link", { name: "Count tokens" }).click();
    await page.waitForURL(/#countTokens$/);
    await page.getByRole("link", { name: "openapi.json" }).click();
    await page.waitForURL("**/openapi.json");
    t.regex(await page.content(), /"openapi":"3\.1/);
  },
);

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

test("the example of a form sends its fields and files", (t) => {
  const example = { model: "demo/echo", file: "@speech.mp3" };
  const content = { "multipart/form-data": { schema: { properties: { file: {} } }, example } };
  const operation = {
    operationId: "transcribe",
    tags: ["Audio"],
    summary: "Transcribe speech",
    description: "",
    requestBody: { content },
    responses: {},
  };
  const { groups } = readReference({
    info: { description: "" },
    tags: [{ name: "Audio", description: "" }],
    paths: { "/v1/audio/transcriptions": { post: operation } },
    components: { schemas: {} },
  });
  const [read] = groups[0]?.operations ?? [];
  const lines = [
    "curl http://gateway.test/v1/audio/transcriptions",
    `-H "Authorization: Bearer $GATEWAY_API_KEY"`,
    "-F 'model=demo/echo'",
    "-F 'file=@speech.mp3'",
  ];
  t.is(read && writeExample("http://gateway.test", read), lines.join(" \\\n  "));
});

browserTest("the overview and the provider's page show the last failure", async (t) => {
  const gateway = await startTestGateway(t);
  const down = await addModel(t, gateway, { url: `http://127.0.0.1:${await freePort()}` });
  const busy = await addModel(t, gateway, answersWith(429));
  for (const { slug } of [down, busy]) await askModel(gateway, slug);

  const page = await openSignedIn(t, { browser: browser(), gateway, viewport: { width: 360, height: 780 } });
  const line = (name: string) => page.getByRole("listitem").filter({ hasText: name });
  const refused = /Last error upstream_error, connection refused, (?:just now|\d+ (?:second|minute)s? ago)/;
  await line(down.name).getByText(refused).waitFor();
  // The console omits an error reason that equals the error code.
  const limited = /Last error HTTP 429, (?:just now|\d+ (?:second|minute)s? ago)/;
  await line(busy.name).getByText(limited).waitFor();
  await assertAccessible(t, page);
  await visit(page, `/providers/${down.providerId}`);
  await page.getByText(refused).waitFor();
  await assertAccessible(t, page);
});
