import { readFile } from "node:fs/promises";
import test from "ava";
import { addModel } from "../helpers/add-model.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { type ConsolePage, openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { chatBody, postChat, postTo } from "../helpers/post-chat.ts";
import { unpricedIn } from "../helpers/unpriced-in.ts";
import { administrator, createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

const codex = "codex_cli_rs/0.50.0";

async function useKey(gateway: TestGateway, value: string, prompts: string[]) {
  for (const content of prompts) {
    const headers = { authorization: `Bearer ${value}`, "user-agent": codex };
    await postTo(gateway, "/v1/chat/completions", headers, chatBody("demo/echo", content));
  }
  await gateway.services.recorder.flush();
}

const countOf = (page: ConsolePage) =>
  page.locator("dt", { hasText: "Requests" }).locator("+ dd").innerText();

async function priceDemo(gateway: TestGateway) {
  await gateway.admin.models.update.mutate({ slug: "demo/echo", prices: { input: 1_000, output: 2_000 } });
}

browserTest("the usage page draws, sums and lists usage, and its export has the same sums", async (t) => {
  const gateway = await startTestGateway(t);
  await priceDemo(gateway);
  const key = await createKey(gateway);
  await gateway.admin.keys.rename.mutate({ id: key.id, name: "=HYPERLINK(1)" });
  await useKey(gateway, key.value, ["one", "two words", "/fail 500"]);

  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/usage" });
  await page.getByRole("figure", { name: "Requests by model, last 24 hours" }).waitFor();
  await page.getByText("1 failed").waitFor();
  t.is(await countOf(page), "3");
  await assertAccessible(t, page);
  const cost = Number((await page.locator("dt", { hasText: "Cost" }).locator("+ dd").innerText()).slice(1));
  t.true(cost > 0);

  await page.getByLabel("Status").click();
  await page.getByRole("option", { name: "Failed", exact: true }).click();
  await page.locator("dt", { hasText: "Requests" }).locator('+ dd:text-is("1")').waitFor();
  t.regex(page.url(), /status=FAILED/);
  await page.getByLabel("Metric").click();
  await page.getByRole("option", { name: "Cost" }).click();
  await page.getByLabel("Group by").click();
  await page.getByRole("option", { name: "by status" }).click();
  await page.getByRole("figure", { name: "Cost by status, last 24 hours" }).waitFor();
  await page.reload();
  await page.getByRole("figure", { name: "Cost by status, last 24 hours" }).waitFor();
  for (const period of ["Last 7 days", "Last 30 days", "Last 12 months"]) {
    await page.getByLabel("Period").click();
    await page.getByRole("option", { name: period }).click();
    await page.getByRole("figure", { name: `Cost by status, ${period.toLowerCase()}` }).waitFor();
    t.is(await countOf(page), "1", period);
  }

  await page.goto("/usage?by=person&sort=cost");
  await page.getByRole("link", { name: "View requests" }).click();
  await page.waitForURL(/\/requests$/);
  await page.getByRole("row").nth(3).waitFor();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export CSV" }).click();
  const csv = await readFile(await (await downloading).path(), "utf8");
  const [titles = "", ...lines] = csv.trim().split("\r\n");
  const column = titles.split(",").indexOf("cost_usd");
  t.is(lines.length, 3);
  t.is(lines.reduce((sum, line) => sum + Number(line.split(",")[column]), 0).toFixed(6), cost.toFixed(6));
  t.is(lines.filter((line) => line.includes(`,"'=HYPERLINK(1)",`)).length, 3, "no formula");
  t.deepEqual(titles.split(",").slice(-6), [
    "attempts",
    "client_tool",
    "owner_name",
    "limited_by",
    "error_reason",
    "charge_usd",
  ]);
  const ending = `,1,"codex","${administrator.name}",,`;
  t.deepEqual(lines.map((line) => line.slice(line.indexOf(ending) + ending.length)).toSorted(), [
    '"http_500",0',
    ",0.003",
    ",0.006",
  ]);
});

browserTest("usage links to the requests of its filters, and Clear removes every filter", async (t) => {
  const gateway = await startTestGateway(t);
  const [key, other] = [await createKey(gateway), await createKey(gateway)];
  await useKey(gateway, key.value, ["one", "/fail 500"]);
  await useKey(gateway, other.value, ["two"]);
  const { id: person } = await gateway.admin.auth.me.query();
  const filters = `person=${person}&tool=codex&reason=http_500`;
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/usage?period=7d&${filters}` });
  await page.getByRole("button", { name: "Error reason: " }).waitFor();
  t.is(await countOf(page), "1");
  await page.getByRole("link", { name: "View requests" }).click();
  await page.waitForURL((url) => url.pathname === "/requests" && url.search === `?period=7d&${filters}`);
  await page.getByRole("cell", { name: /^Failed / }).waitFor();
  t.is(await page.getByRole("row").count(), 2);

  await page.goBack();
  await page.getByRole("button", { name: "Clear" }).click();
  await page.waitForURL(/\/usage\?period=7d$/);
  await page.locator("dt", { hasText: "Requests" }).locator('+ dd:text-is("3")').waitFor();
  await page.getByRole("button", { name: "Clear" }).waitFor({ state: "detached" });

  await page.goto(`/keys/${key.id}?tab=usage`);
  await page.getByRole("link", { name: "View requests" }).click();
  await page.waitForURL(new RegExp(`/requests\\?key=${key.id}$`));
  await page.getByRole("row").nth(2).waitFor();
  t.is(await page.getByRole("row").count(), 3);
});

browserTest("a key's tab shows only that key and refreshes while it is open", async (t) => {
  const gateway = await startTestGateway(t);
  const [first, second] = [await createKey(gateway), await createKey(gateway)];
  await useKey(gateway, first.value, ["of the first"]);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${second.id}?tab=usage` });
  await page.getByRole("heading", { name: "No requests" }).waitFor();
  await assertAccessible(t, page);
  await useKey(gateway, second.value, ["of the second"]);
  await page.getByRole("rowheader", { name: "demo/echo" }).waitFor();
  t.is(await countOf(page), "1");
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "demo/echo" }).click();
  await page.waitForURL((url) => url.search === "?tab=usage&model=demo%2Fecho&by=tool");
});

browserTest("a member sees only the usage of their own keys", async (t) => {
  const gateway = await startTestGateway(t);
  const key = await createKey(gateway);
  await useKey(gateway, key.value, ["hello"]);
  const { email, password } = await addPerson(gateway, "grace@example.com");
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/usage", email, password });
  await page.getByRole("heading", { name: "No requests" }).waitFor();
  t.is(await page.getByText("hello").count(), 0);
});

browserTest("a cancelled stream is marked as cancelled, with estimated counts", async (t) => {
  const gateway = await startTestGateway(t);
  const { slug } = await addModel(t, gateway, (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const chunk = {
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta: { content: "Some words " } }],
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  });
  const key = await createKey(gateway, [slug]);
  const abort = new AbortController();
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key.value}`, "content-type": "application/json" },
    body: JSON.stringify({ ...chatBody(slug), stream: true }),
    signal: abort.signal,
  });
  await response.body?.getReader().read();
  abort.abort();
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/requests?key=${key.id}` });
  await page.getByRole("cell", { name: "Cancelled" }).waitFor();
  t.true((await page.getByText("≈").count()) > 0);
});

browserTest("a refused request shows the reason, no provider and no cost", async (t) => {
  const gateway = await startTestGateway(t);
  const key = await createKey(gateway);
  t.is((await postChat(gateway, key.value, chatBody("nobody/nothing"))).status, 404);
  await gateway.services.recorder.flush();
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests" });
  await page.getByRole("cell", { name: "Failed model_not_found" }).waitFor();
  t.is(await page.getByText(/unpriced/i).count(), 0);
  await page.getByRole("link", { name: /request details/ }).click();
  const dialog = page.getByRole("dialog", { name: "Request" });
  const fact = (label: string) => dialog.locator("dt").filter({ hasText: label }).locator("+ dd").innerText();
  for (const label of ["Served by", "Client tool", "cached", "Token counts", "Time to first token"])
    t.is(await dialog.locator("dt").filter({ hasText: label }).count(), 0, label);
  t.is(await fact("Rejected by"), "Gateway (before routing)");
  t.is(await fact("Attempts"), "0");
  t.is(await fact("Cost"), "$0.00");
  await assertAccessible(t, page);
  await page.goto("/usage");
  t.is(await unpricedIn(page, "nobody/nothing"), "0");
});

browserTest("the table, the details and the export name the owner of a spent limit", async (t) => {
  const gateway = await startTestGateway(t, { environment: { PERSON_REQUESTS_PER_MINUTE_MAX: "2" } });
  const use = async (statuses: number[], limits: object) => {
    const criteria = { name: "Limited", models: ["demo/echo"], limits };
    const { value } = await gateway.admin.keys.create.mutate(criteria);
    for (const status of statuses)
      t.is((await postChat(gateway, value, chatBody("demo/echo"))).status, status);
  };
  await use([200, 429], { requestsPerMinute: 1 });
  await use([200, 429], {});
  await use([402], { budgetsUsd: { day: 0 } });
  await gateway.services.recorder.flush();

  const viewport = { width: 360, height: 780 };
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests", viewport });
  for (const [code, refusedBy] of [
    ["rate_limit_exceeded", "API key's request rate limit"],
    ["rate_limit_exceeded", "Owner's request rate limit"],
    ["insufficient_quota", "API key's daily budget"],
  ] as const) {
    const name = `Failed ${code} ${refusedBy}`;
    const row = page
      .getByRole("region", { name: "Requests" })
      .getByRole("row")
      .filter({ has: page.getByRole("cell", { name, exact: true }) });
    await row.getByRole("link", { name: /request details/ }).click();
    const dialog = page.getByRole("dialog", { name: "Request" });
    t.is(await dialog.locator("dt", { hasText: "Rejected by" }).locator("+ dd").innerText(), refusedBy);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }
  const table = page.getByRole("region", { name: "Requests" });
  t.true(await table.evaluate((element) => element.scrollWidth <= element.clientWidth));
  await assertAccessible(t, page);

  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export CSV" }).click();
  const csv = await readFile(await (await downloading).path(), "utf8");
  const [titles = [], ...lines] = csv
    .trim()
    .split("\r\n")
    .map((line) => line.replaceAll('"', "").split(","));
  const refusals = lines.map((line) => `${line[titles.indexOf("error_code")]},${line.slice(-3, -1).join()}`);
  t.deepEqual(titles.slice(-3), ["limited_by", "error_reason", "charge_usd"]);
  t.deepEqual(refusals.toSorted(), [
    ",,",
    ",,",
    "insufficient_quota,KEY,budget_per_day",
    ...["KEY", "PERSON"].map((whose) => `rate_limit_exceeded,${whose},requests_per_minute`),
  ]);
});
