import test from "ava";
import { addModel, answersWith, askModel } from "../helpers/add-model.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { becomePerson, type ConsolePage, openSignedIn, shareBrowser, visit } from "../helpers/chromium.ts";
import { freePort } from "../helpers/free-port.ts";
import { openStream } from "../helpers/open-chat.ts";
import { chatBody, postChat, postTo } from "../helpers/post-chat.ts";
import { beginStream, chunkEvent } from "../helpers/scripted-upstream.ts";
import {
  administrator,
  createKey,
  startTestGateway,
  type TestGateway,
  usageOf,
} from "../helpers/test-gateway.ts";
import { unpricedIn } from "../helpers/unpriced-in.ts";
import { choose, closeDialog, download, openDetails } from "./console-actions.ts";

const browser = shareBrowser(test);

const viewport = { width: 360, height: 780 };

async function ask(gateway: TestGateway, value: string, content = "Hello", tool = ""): Promise<string> {
  const headers = { authorization: `Bearer ${value}`, "user-agent": tool };
  const answer = await postTo(gateway, "/v1/chat/completions", headers, chatBody("demo/echo", content));
  await gateway.services.recorder.flush();
  return answer.headers.get("x-request-id") ?? "";
}

async function useKey(gateway: TestGateway, value: string, prompts: string[]) {
  for (const content of prompts) await ask(gateway, value, content, "codex_cli_rs/0.50.0");
}

const countOf = (page: ConsolePage) =>
  page.locator("dt", { hasText: "Requests" }).locator("+ dd").innerText();

browserTest("the usage page draws, sums and lists usage, and its export has the same sums", async (t) => {
  const gateway = await startTestGateway(t);
  await gateway.admin.models.update.mutate({ slug: "demo/echo", prices: { input: 1_000, output: 2_000 } });
  const key = await createKey(gateway);
  await gateway.admin.keys.rename.mutate({ id: key.id, name: "=HYPERLINK(1)" });
  await useKey(gateway, key.value, ["one", "two words", "/fail 500"]);

  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/usage" });
  const figure = page.getByRole("figure", { name: "Requests by model, last 24 hours" });
  await figure.waitFor();
  t.regex(await figure.innerText(), /\b\d\d:00\b/, "hours of the day, of 24");
  t.notRegex(await figure.innerText(), /\d\.\d|\b[AP]M\b/, "whole requests");
  await page.getByText("1 failed").waitFor();
  t.is(await countOf(page), "3");
  await assertAccessible(t, page);
  const cost = Number((await page.locator("dt", { hasText: "Cost" }).locator("+ dd").innerText()).slice(1));
  t.true(cost > 0);

  await choose(page, "Status", "Failed");
  await page.locator("dt", { hasText: "Requests" }).locator('+ dd:text-is("1")').waitFor();
  t.regex(page.url(), /status=FAILED/);
  await choose(page, "Metric", "Cost");
  await choose(page, "Group by", "by status");
  await page.getByRole("figure", { name: "Cost by status, last 24 hours" }).waitFor();
  await page.reload();
  await page.getByRole("figure", { name: "Cost by status, last 24 hours" }).waitFor();
  for (const period of ["Last 7 days", "Last 30 days", "Last 12 months"]) {
    await choose(page, "Period", period);
    await page.getByRole("figure", { name: `Cost by status, ${period.toLowerCase()}` }).waitFor();
    t.is(await countOf(page), "1", period);
  }

  await visit(page, "/usage?by=person&sort=cost");
  await page.getByRole("link", { name: "View requests" }).click();
  await page.waitForURL(/\/requests$/);
  await page.getByRole("row").nth(3).waitFor();
  const { text: csv } = await download(page, "Export CSV");
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

  await visit(page, `/keys/${key.id}?tab=usage`);
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

browserTest("refused, unpriced and cancelled requests show what is known of them", async (t) => {
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
  await visit(page, "/usage");
  t.is(await unpricedIn(page, "nobody/nothing"), "0");

  await gateway.admin.models.update.mutate({ slug: "demo/echo", prices: { input: null, output: null } });
  const unpriced = await createKey(gateway);
  await postChat(gateway, unpriced.value, chatBody("demo/echo"));
  const [record] = await usageOf(gateway, unpriced.id);
  await visit(page, `/requests/${record?.id}`);
  await page.getByText("The model has no price, or the token count is unknown.").waitFor();
  t.is(await page.getByRole("region", { name: "Cost breakdown" }).getByRole("term").count(), 0);

  const streaming = await addModel(t, gateway, (response) => {
    beginStream(response);
    response.write(chunkEvent("Some words "));
  });
  const listener = await createKey(gateway, [streaming.slug]);
  const { request } = await openStream(gateway, listener.value, "Hello", streaming.slug);
  request.destroy();
  await visit(page, `/requests?key=${listener.id}`);
  await page.getByRole("cell", { name: "Cancelled" }).waitFor();
  t.true((await page.getByText("≈").count()) > 0);
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

  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests", viewport });
  for (const [code, refusedBy] of [
    ["rate_limit_exceeded", "API key's request rate limit"],
    ["rate_limit_exceeded", "Owner's request rate limit"],
    ["insufficient_quota", "API key's daily budget"],
  ] as const) {
    const dialog = await openDetails(page, `Failed ${code} ${refusedBy}`);
    t.is(await dialog.locator("dt", { hasText: "Rejected by" }).locator("+ dd").innerText(), refusedBy);
    await closeDialog(page, dialog);
  }
  const table = page.getByRole("region", { name: "Requests" });
  t.true(await table.evaluate((element) => element.scrollWidth <= element.clientWidth));
  await assertAccessible(t, page);

  const { text: csv } = await download(page, "Export CSV");
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

browserTest("a request opens by a click, its ID or its error message, for who may see it", async (t) => {
  const gateway = await startTestGateway(t);
  const { id: keyId, value } = await createKey(gateway);
  const id = await ask(gateway, value);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests?status=SUCCEEDED" });
  // The row's link covers the cell, so the click needs `force`.
  await page.getByRole("cell", { name: "Succeeded" }).click({ force: true });
  await page.waitForURL(new RegExp(`/requests/${id}\\?status=SUCCEEDED$`));
  const dialog = page.getByRole("dialog", { name: "Request" });
  await dialog.getByRole("region", { name: "Timing" }).waitFor();
  t.is(await dialog.getByRole("link", { name: "Test key" }).getAttribute("href"), `/keys/${keyId}`);
  t.is(
    await dialog.getByRole("link", { name: "demo/echo", exact: true }).getAttribute("href"),
    "/models/demo/echo",
  );
  t.regex(
    (await dialog.getByRole("link", { name: /^demo \// }).getAttribute("href")) ?? "",
    /^\/providers\/prv_/,
  );
  await assertAccessible(t, page);

  await dialog.getByRole("button", { name: "Copy as curl" }).click();
  const curl = await page.evaluate<string>("navigator.clipboard.readText()");
  t.regex(curl, /\/v1\/chat\/completions' .*Bearer \$GATEWAY_API_KEY".*"model":"demo\/echo"/s);
  t.false(curl.includes(value));
  await page.keyboard.press("Escape");
  await page.waitForURL(/\/requests\?status=SUCCEEDED$/);
  await page.goto(`/requests/${id}`);
  await dialog.getByText("Succeeded").waitFor();

  const failed = await ask(gateway, value, "/fail 500");
  await visit(page, "/requests");
  const field = page.getByRole("searchbox", { name: "Request ID" });
  await field.fill("no id");
  await field.press("Enter");
  await page.getByRole("alert").filter({ hasText: "Enter an ID" }).waitFor();
  await assertAccessible(t, page);
  await field.fill(`The provider failed. Request ${failed}`);
  await field.press("Enter");
  await dialog.getByText("Failed").waitFor();
  t.is(new URL(page.url()).pathname, `/requests/${failed}`);

  const member = await addPerson(gateway, "grace@example.com");
  const { value: ownValue } = await member.console.keys.create.mutate({ name: "Own", models: ["demo/echo"] });
  const own = await ask(gateway, ownValue);
  await becomePerson(page, member, "/requests");
  await page.getByRole("cell", { name: "Own" }).waitFor();
  t.is(await page.getByRole("row").count(), 2);
  await visit(page, `/requests/${failed}`);
  await dialog.getByText("No request with this ID is visible to you.").waitFor();
  await visit(page, `/requests/${own}`);
  await dialog.getByText("Succeeded").waitFor();
});

browserTest("requests are filtered by status, tool, person, reason and duration", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  await ask(gateway, value, "one", "codex_cli_rs/0.50.0");
  await ask(gateway, value, "/fail 500");
  await postChat(gateway, value, chatBody("nobody/nothing"));
  await gateway.services.recorder.flush();
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests" });
  const rows = async (count: number, why: string) => {
    const row = page.getByRole("row");
    await row.nth(count).waitFor();
    await row.nth(count + 1).waitFor({ state: "detached" });
    t.pass(why);
  };
  await rows(3, "all");
  await choose(page, "Status", "All errors");
  await rows(2, "errors");
  await choose(page, "Status", "HTTP 4xx");
  await rows(1, "status class");
  await choose(page, "Status", "Any status");
  await page.getByRole("button", { name: "More filters" }).click();
  await choose(page, "Tool", "codex");
  await rows(1, "tool");
  await choose(page, "Tool", "Any tool");
  await choose(page, "Error reason", "http_500");
  await rows(1, "reason");
  await choose(page, "Error reason", "Any error reason");
  await choose(page, "Person", "Ada");
  await rows(3, "person");
  await assertAccessible(t, page);
  await choose(page, "Duration", "At least 60 s");
  await page.getByRole("heading", { name: "No requests" }).waitFor();
  await page.getByRole("button", { name: "Clear" }).click();
  await rows(3, "cleared");
});

browserTest("the list follows new requests until it is paused, and keeps its density", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  await ask(gateway, value);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests" });
  await page.getByRole("row").nth(1).waitFor();
  await ask(gateway, value);
  await page.getByRole("row").nth(2).waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused.").waitFor();
  await ask(gateway, value);
  await page.getByRole("button", { name: "Compact rows" }).click();
  await page.getByRole("row").nth(2).click();
  const dialog = page.getByRole("dialog", { name: "Request" });
  await dialog.waitFor();
  await closeDialog(page, dialog);
  t.is(await page.getByRole("row").count(), 3, "paused");
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("row").nth(3).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Comfortable rows" }).waitFor();
});

browserTest("a request's cost is explained line by line, with its source and charge", async (t) => {
  const gateway = await startTestGateway(t);
  let tier = "priority";
  const { slug, providerId } = await addModel(t, gateway, (response) => {
    const message = { role: "assistant", content: "Hi" };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    const details = { prompt_tokens_details: { cached_tokens: 400 } };
    const usage = { prompt_tokens: 1_400, completion_tokens: 100, ...details, cost: 0.0071 };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ choices, usage, service_tier: tier }));
  });
  const rules = [{ when: { serviceTier: "priority" }, factor: 2 }];
  await gateway.admin.models.update.mutate({
    slug,
    prices: { input: 1, cachedInput: 0.1, output: 10, rules },
  });
  const { id: keyId, value } = await createKey(gateway, [slug]);
  await gateway.admin.keys.setChargeFactor.mutate({ id: keyId, chargeFactor: 1.5 });
  const ask = async () => {
    await postChat(gateway, value, chatBody(slug));
    return (await usageOf(gateway, keyId))[0]?.id ?? "";
  };
  const id = await ask();
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/requests/${id}` });
  const region = page.getByRole("dialog").getByRole("region", { name: "Cost breakdown" });
  const lines = async () => {
    await region.getByRole("term").first().waitFor();
    const names = await region.getByRole("term").allInnerTexts();
    const amounts = await region.getByRole("definition").allInnerTexts();
    return names.map((name, index) => `${name.replace(/\s*\n\s*/, ": ")} = ${amounts[index]}`);
  };
  t.deepEqual(await lines(), [
    "Cached input: 400 tokens × $0.20 per 1M · priority × 2 = $0.00008",
    "Input: 1,000 tokens × $2.00 per 1M · priority × 2 = $0.002",
    "Output: 100 tokens × $20.00 per 1M · priority × 2 = $0.002",
    "Reported by provider: For comparison = $0.0071",
    "Cost = $0.00408",
    "Charge: Cost × 1.5 = $0.00612",
  ]);
  await assertAccessible(t, page);

  await gateway.admin.providers.update.mutate({ id: providerId, costSource: "provider" });
  await visit(page, `/requests/${await ask()}`);
  t.deepEqual((await lines()).slice(3), [
    "At model prices = $0.00408",
    "Reported by provider = $0.0071",
    "Cost: The provider's own figure = $0.0071",
    "Charge: Cost × 1.5 = $0.01065",
  ]);

  await gateway.admin.providers.update.mutate({ id: providerId, costSource: null });
  tier = "ultrafast";
  await visit(page, `/requests/${await ask()}`);
  t.deepEqual((await lines()).slice(-3), [
    "Reported by provider: For comparison = $0.0071",
    "Cost = unknown",
    "Counted by budgets: Known parts at usual prices = $0.00204",
  ]);
  await assertAccessible(t, page);
});

browserTest("the table and the request details show why a provider failed", async (t) => {
  const gateway = await startTestGateway(t);
  const down = await addModel(t, gateway, { url: `http://127.0.0.1:${await freePort()}` });
  const broken = await addModel(t, gateway, answersWith(500));
  for (const { slug } of [down, broken]) await askModel(gateway, slug);

  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests", viewport });
  for (const why of ["Connection refused", "Provider returned HTTP status 500"]) {
    const dialog = await openDetails(page, `Failed upstream_error ${why}`);
    const reason = dialog.locator("dt", { hasText: /^Reason$/ }).locator("+ dd");
    t.is(await reason.innerText(), why);
    t.is(await dialog.locator("dt", { hasText: "Rejected by" }).count(), 0);
    t.is(await dialog.getByText("unknown", { exact: true }).count(), 0, "it has no tokens");
    await assertAccessible(t, page);
    await closeDialog(page, dialog);
  }
  const table = page.getByRole("region", { name: "Requests" });
  t.true(await table.evaluate((element) => element.scrollWidth <= element.clientWidth));
});
