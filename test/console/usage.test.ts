import test from "ava";
import { addModel, answersWith } from "../helpers/add-model.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { type ConsolePage, openSignedIn, shareBrowser, visit } from "../helpers/chromium.ts";
import { eventually } from "../helpers/eventually.ts";
import { userRow } from "../helpers/open-test-database.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { randomUsage } from "../helpers/random-usage.ts";
import { sendCompletion } from "../helpers/scripted-upstream.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";
import { choose, closeDialog, download, openDetails } from "./console-actions.ts";

const browser = shareBrowser(test);

const world = { keys: 12, models: 14, providers: 3, owners: 3 };

async function addRequests({ services }: TestGateway, count: number, fromMs: number, toMs: number) {
  const random = seededRandom(count);
  const records = Array.from({ length: count }, () =>
    randomUsage(random, new Date(fromMs + random.upTo(toMs - fromMs)), world),
  );
  await services.database.write(({ usageRecords }) => usageRecords.insertAll(records));
  return records;
}

const table = (page: ConsolePage, by: string) =>
  page.getByRole("region", { name: `Usage ${by}`, exact: true });

browserTest("the breakdown answers who spent most, sorts, filters and exports", async (t) => {
  const gateway = await startTestGateway(t);
  const person = "usr_00000000000000000000000001";
  await gateway.services.database.write(({ users }) => users.insert(userRow(person, { name: "Bob" })));
  const now = Date.now();
  const records = await addRequests(gateway, 400, now - 20 * 3_600_000, now - 60_000);

  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/usage?by=person&sort=cost" });
  await table(page, "by person").waitFor();
  await assertAccessible(t, page);
  const bobs = records.filter(({ ownerId }) => ownerId === person);
  const row = table(page, "by person").getByRole("row").filter({ hasText: "Bob" });
  t.is(await row.getByRole("cell").first().innerText(), String(bobs.length));
  const errors = bobs.filter(({ status }) => status === "FAILED" || status === "INTERRUPTED").length;
  t.regex(await row.getByRole("cell").nth(1).innerText(), new RegExp(`^\\d+(\\.\\d)?% \\(${errors}\\)$`));
  await table(page, "by person").getByRole("row").filter({ hasText: "Unassigned" }).waitFor();
  t.is(
    await page.getByRole("columnheader", { name: "Cost" }).first().getAttribute("aria-sort"),
    "descending",
  );
  await page.getByRole("button", { name: "Requests", exact: true }).press("Enter");
  await page.waitForURL(/\/usage\?by=person$/);

  const { text: csv } = await download(page, "Export table");
  const lines = csv.trim().split("\r\n");
  const line = lines.find((each) => each.includes(person)) ?? t.fail();
  t.true(line.startsWith(`"${person}","Bob",${bobs.length},`), line);
  t.is(
    lines.slice(1).reduce((sum, each) => sum + Number(each.split(",")[2]), 0),
    records.length,
  );
  t.true(lines[0]?.endsWith(",charge_usd"));
  const charge = bobs.reduce((sum, { cost, markup }) => sum + (cost ?? 0) + markup, 0);
  t.is(Number(line.split(",").at(-1)), charge / 1e9);

  await page.getByRole("button", { name: "Bob", exact: true }).click();
  await page.waitForURL((url) => url.search === `?by=key&person=${person}`);
  await table(page, "by API key").getByRole("button", { name: "Key 1", exact: true }).waitFor();
  await page.getByRole("button", { name: "Person: Bob" }).waitFor();
  await waitForRequestCount(page, bobs.length);
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Person: Bob" }).click();
  await page.waitForURL(/\/usage\?by=key$/);

  await choose(page, "Group by", "by error reason");
  await table(page, "by error reason").waitFor();
  const reason = records.filter(({ errorReason }) => errorReason === "http_429");
  const refused = table(page, "by error reason").getByRole("row").filter({ hasText: "HTTP status 429" });
  t.is(await refused.getByRole("cell").first().innerText(), String(reason.length));
  await refused.getByRole("button").click();
  await page.getByRole("button", { name: /^Error reason: / }).waitFor();
  t.is(new URL(page.url()).search, "?reason=http_429");
  await table(page, "by model").waitFor();
});

browserTest("the chart lists an interval's values, opens the whole table, and zooms", async (t) => {
  const gateway = await startTestGateway(t);
  const now = Date.now();
  await addRequests(gateway, 300, now - 20 * 3_600_000, now - 60_000);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/usage" });
  await table(page, "by model").waitFor();
  t.is(await table(page, "by model").getByRole("row").count(), 11);
  await page.getByRole("button", { name: /^\d+ others$/ }).click();
  await page.getByRole("button", { name: "Show top 10" }).waitFor();
  t.true((await table(page, "by model").getByRole("row").count()) > 11);

  const figure = page.getByRole("figure", { name: "Requests by model" });
  await figure.scrollIntoViewIfNeeded();
  const box = (await figure.boundingBox()) ?? t.fail();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
  const total = figure.locator("dt", { hasText: "Total" }).locator("+ dd");
  t.regex(await total.innerText(), /^\d+$/, "the requests of the hour under the pointer");
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/period=custom&from=\d{4}-\d\d-\d\dT\d\d%3A\d\d&to=\d{4}-\d\d-\d\dT\d\d%3A\d\d/);
  await page.getByLabel("Start time").waitFor();
  t.regex(await page.getByLabel("Start time").inputValue(), /^\d\d:00$/);
  await figure.waitFor();
  await assertAccessible(t, page);
});

browserTest("key and model stay readable, and nothing overflows, at every width", async (t) => {
  const gateway = await startTestGateway(t);
  const now = Date.now();
  await addRequests(gateway, 60, now - 20 * 3_600_000, now - 60_000);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  for (const width of [1440, 1024, 768, 360]) {
    await page.setViewportSize({ width, height: 900 });
    await visit(page, "/usage");
    await table(page, "by model").waitFor();
    const sideways = await page.evaluate<number>(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    t.is(sideways, 0, `${width}`);
    const name = await table(page, "by model").getByRole("rowheader").first().boundingBox();
    t.true((name?.width ?? 0) >= 110, `${width}: ${name?.width}`);

    await visit(page, "/requests");
    const requests = page.getByRole("region", { name: "Requests" });
    await requests.getByRole("row").nth(1).waitFor();
    const lost = await page.evaluate<number>(
      "document.querySelector('table').parentElement.scrollWidth - document.querySelector('table').parentElement.clientWidth",
    );
    t.is(lost, 0, `requests at ${width}`);
    const model = await requests.getByText("provider-0/model").locator("visible=true").first().boundingBox();
    t.true((model?.width ?? 0) >= 110, `requests at ${width}: ${model?.width}`);
  }
});

async function factsOf(page: ConsolePage, cell: string): Promise<Record<string, string>> {
  const dialog = await openDetails(page, cell);
  await dialog.locator("dt").first().waitFor();
  const labels = await dialog.locator("dt").allInnerTexts();
  const values = await dialog.locator("dd").allInnerTexts();
  await closeDialog(page, dialog);
  return Object.fromEntries(labels.map((label, place) => [label, values[place] ?? ""]));
}

browserTest("requests show the requested, the answering or no model", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  await postChat(gateway, value, chatBody("demo/echo"));
  await postChat(gateway, value, chatBody("echo"));
  await postChat(gateway, value, { messages: "none" });
  await gateway.services.recorder.flush();

  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests" });
  const requests = page.getByRole("region", { name: "Requests" });
  await requests.getByRole("row").nth(3).waitFor();
  t.is((await factsOf(page, "echo"))["Model"], "echo");
  t.is((await factsOf(page, "none recorded"))["Model"], "none recorded");
  await visit(page, "/usage");
  const chart = page.getByRole("region", { name: "Chart" });
  for (const name of ["demo/echo", "echo", "none recorded"])
    await chart.getByText(name, { exact: true }).first().waitFor();
  await visit(page, "/requests");

  for (const [choice, address] of [
    ["echo", "model=echo"],
    ["none recorded", "model=%28none%29"],
  ] as const) {
    await choose(page, "Model", new RegExp(`^${choice}$`));
    await page.waitForURL((url) => url.search === `?${address}`);
    await requests.getByRole("row").nth(2).waitFor({ state: "detached" });
    await requests.getByRole("cell", { name: choice, exact: true }).waitFor();
  }
  await assertAccessible(t, page);
  await page.reload();
  await requests.getByRole("cell", { name: "none recorded", exact: true }).waitFor();
  t.is(await page.getByLabel("Model", { exact: true }).innerText(), "none recorded");

  const answering = await addModel(t, gateway, sendCompletion);
  const refusing = await addModel(t, gateway, answersWith(500));
  const away = await addModel(t, gateway, { url: "http://127.0.0.1:1" });
  const routed = await createKey(gateway, [answering.slug, refusing.slug, away.slug]);
  for (const { slug } of [answering, refusing, away]) await postChat(gateway, routed.value, chatBody(slug));
  await gateway.services.recorder.flush();

  await visit(page, "/requests");
  await requests.getByRole("row").nth(6).waitFor();
  for (const [{ slug, name }, label, other] of [
    [answering, "Served by", "Routed to"],
    [refusing, "Routed to", "Served by"],
    [away, "Routed to", "Served by"],
  ] as const) {
    const facts = await factsOf(page, slug);
    t.is(facts[label], `${name} / ${name}-upstream`);
    t.false(other in facts, slug);
  }
  t.is((await factsOf(page, away.slug))["Cost"], "$0.00");
});

/** This time zone is 3.5 hours behind UTC in winter, so its days do not start at a whole hour of UTC. */
const timezoneId = "America/St_Johns";

async function addRequestsAt({ services }: TestGateway, moments: string[], apiKeyId = "key_none") {
  const random = seededRandom(1);
  const world = { keys: 1, models: 1, providers: 1, owners: 1 };
  const records = moments.map((moment) => ({ ...randomUsage(random, new Date(moment), world), apiKeyId }));
  await services.database.write(({ usageRecords }) => usageRecords.insertAll(records));
}

const waitForRequestCount = (page: ConsolePage, count: number) =>
  page.locator("dt", { hasText: "Requests" }).locator(`+ dd:text-is("${count}")`).waitFor();

async function exportedTimes(page: ConsolePage): Promise<{ name: string; times: string[] }> {
  const { name, text } = await download(page, "Export CSV");
  const [, ...lines] = text.replaceAll('"', "").trim().split("\r\n");
  return { name, times: lines.map((line) => line.split(",")[1] ?? "") };
}

browserTest("a custom period covers whole days of the page's time zone, and wrong ones say so", async (t) => {
  const gateway = await startTestGateway(t);
  const [first, last] = ["2026-01-10T03:30:00.000Z", "2026-01-13T03:29:59.999Z"];
  const outside = ["2026-01-10T03:29:59.999Z", "2026-01-13T03:30:00.000Z"];
  await addRequestsAt(gateway, [first, last, ...outside]);
  const path = "/usage?period=custom&from=2026-01-10&to=2026-01-12";
  const page = await openSignedIn(t, { browser: browser(), gateway, path, timezoneId });
  await page.getByRole("figure", { name: "Requests by model, 2026-01-10 to 2026-01-12" }).waitFor();
  await waitForRequestCount(page, 2);
  t.is(await page.getByLabel("From", { exact: true }).inputValue(), "2026-01-10");
  await page.getByText(`the period includes both days in full (${timezoneId})`).waitFor();
  await assertAccessible(t, page);
  await page.getByRole("link", { name: "View requests" }).click();
  await page.waitForURL(/\/requests\?period=custom&from=2026-01-10&to=2026-01-12$/);
  await page.getByRole("row").nth(2).waitFor();
  t.is(await page.getByRole("row").count(), 3);
  t.deepEqual(await exportedTimes(page), {
    name: "usage-2026-01-10-to-2026-01-12.csv",
    times: [last, first],
  });
  await page.goBack();

  const from = page.getByLabel("From", { exact: true });
  const to = page.getByLabel("To", { exact: true });
  await to.fill("2026-01-10");
  await to.press("Enter");
  await page.waitForURL(/\?period=custom&from=2026-01-10&to=2026-01-10$/);
  await page.getByRole("figure", { name: "2026-01-10 to 2026-01-10" }).waitFor();
  await page.getByText(`Hours in ${timezoneId}`).waitFor();
  await waitForRequestCount(page, 1);

  await from.fill("2026-01-09");
  await choose(page, "Status", "Failed");
  await page.waitForURL(/status=/);
  t.is(await from.inputValue(), "2026-01-09", "what is typed stays");

  await addRequests(gateway, 20, Date.parse("2025-01-10T00:00:00Z"), Date.parse("2025-01-10T01:00:00Z"));
  await visit(page, "/usage?period=12m");
  await page.getByText("The period “12m” in the URL is invalid").waitFor();
  await visit(page, "/usage?period=custom&from=2025-01-10&to=2025-01-10&zone=utc");
  await waitForRequestCount(page, 20);
  await page.getByText("Hours in UTC").waitFor();
  await choose(page, "Time zone", "Local time");
  await waitForRequestCount(page, 0);
  t.notRegex(page.url(), /zone=/);

  await visit(page, "/usage?period=custom&from=2026-01-10&to=tomorrow");
  await page.getByText("The end date is missing or invalid. Choose a date.").waitFor();
  t.is(await page.getByRole("figure").count(), 0);
  t.is(await page.getByRole("link", { name: "View requests" }).count(), 0);
  await assertAccessible(t, page);

  await from.fill("2026-01-12");
  await to.fill("2026-01-10");
  for (let time = 0; time < 2; time++) {
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText("The end 2026-01-10 is not after the start. Choose a later end.").waitFor();
    await page.locator("input:focus").and(to).waitFor();
  }
  t.regex(page.url(), /to=tomorrow$/, "the address keeps what is shown");
  await from.fill("2020-01-02");
  await to.fill("2023-01-01");
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForURL(/from=2020-01-02&to=2023-01-01$/);
  await page.getByRole("figure", { name: "2020-01-02 to 2023-01-01" }).waitFor();
  await page.getByText("Months in UTC").waitFor();
});

browserTest("a custom period is selected by keyboard, starts from the current one and ends", async (t) => {
  const gateway = await startTestGateway(t);
  const key = await createKey(gateway);
  await addRequestsAt(gateway, ["2026-01-10T12:00:00Z"], key.id);
  const viewport = { width: 360, height: 780 };
  const path = `/keys/${key.id}?tab=usage&period=7d`;
  const page = await openSignedIn(t, { browser: browser(), gateway, path, viewport, timezoneId: "UTC" });
  await page.getByLabel("Period").press("Enter");
  await page.getByRole("option", { name: "Custom…" }).waitFor();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.waitForURL(/period=custom&from=\d{4}-\d\d-\d\d&to=\d{4}-\d\d-\d\d$/);
  const { searchParams } = new URL(page.url());
  const length = Date.parse(searchParams.get("to") ?? "") - Date.parse(searchParams.get("from") ?? "");
  t.is(length / 86_400_000, 6, "as many days as were shown");
  await page.getByRole("figure", { name: /Requests by model, \d{4}-/ }).waitFor();
  await assertAccessible(t, page);

  await page.getByLabel("From", { exact: true }).focus();
  const missingPx = await page.getByLabel("Start time").evaluate((field) => {
    const width = field.clientWidth;
    field.style.width = "max-content";
    return field.clientWidth - width;
  });
  t.true(missingPx <= 0, `${missingPx} px of the time are cut off`);
  await page.keyboard.type("01092026");
  await page.getByLabel("To", { exact: true }).focus();
  await page.keyboard.type("01112026");
  await page.keyboard.press("Enter");
  await page.waitForURL(/period=custom&from=2026-01-09&to=2026-01-11$/);
  await waitForRequestCount(page, 1);
  await assertAccessible(t, page);

  await page.getByLabel("Period").press("Enter");
  await page.getByRole("option", { name: "Last 24 hours" }).click();
  await page.waitForURL(/\?tab=usage$/);
  await page.getByLabel("From", { exact: true }).waitFor({ state: "detached" });
});

browserTest("the filters load their further options after the table of each period", async (t) => {
  const gateway = await startTestGateway(t);
  await addRequestsAt(gateway, [new Date(Date.now() - 7_200_000).toISOString()], "key_deleted");
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  const order: string[] = [];
  page.on("request", (request) => {
    if (request.postData()?.includes('"interval":null')) order.push("options");
  });
  page.on("response", (response) => {
    if (response.request().postData()?.includes("UsageBreakdown")) order.push("table");
  });
  await page.goto("/usage?period=7d");
  for (const period of ["", "30d"]) {
    if (period) {
      await choose(page, "Period", "Last 30 days");
    }
    await eventually(() => order.length >= 3);
    t.deepEqual(order.splice(0), ["table", "options", "options"], period);
  }
  await page.getByLabel("API key").click();
  await page.getByRole("option", { name: /\(deleted\)$/ }).waitFor();
});

browserTest("deleted and equally named keys are selectable, and Back undoes one selection", async (t) => {
  const gateway = await startTestGateway(t);
  const [gone, kept] = [await createKey(gateway), await createKey(gateway)];
  await gateway.admin.keys.rename.mutate({ id: gone.id, name: "Old laptop" });
  await gateway.admin.keys.rename.mutate({ id: kept.id, name: "New laptop" });
  for (const content of ["one", "two", "/fail 429"])
    await postChat(gateway, gone.value, chatBody("demo/echo", content));
  await postChat(gateway, kept.value, chatBody("demo/echo", "three"));
  await gateway.services.recorder.flush();
  await gateway.admin.keys.delete.mutate({ id: gone.id });

  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/usage" });
  await waitForRequestCount(page, 4);
  await choose(page, "API key", "Old laptop (deleted)");
  await page.waitForURL(`**/usage?key=${gone.id}`);
  await waitForRequestCount(page, 3);
  await choose(page, "Status", "Failed");
  await waitForRequestCount(page, 1);
  await page.getByRole("region", { name: "Usage by model" }).getByRole("cell", { name: "$0.00" }).waitFor();
  await assertAccessible(t, page);

  await page.goBack();
  await waitForRequestCount(page, 3);
  t.is(new URL(page.url()).search, `?key=${gone.id}`);
  await page.goBack();
  await waitForRequestCount(page, 4);
  t.is(new URL(page.url()).search, "");
  await page.getByLabel("API key", { exact: true }).click();
  t.is(await page.getByRole("option", { name: "(deleted)" }).count(), 1);

  const [one, other, alone] = [await createKey(gateway), await createKey(gateway), await createKey(gateway)];
  await gateway.admin.keys.rename.mutate({ id: alone.id, name: "Laptop" });
  await page.goto("/usage");
  for (const key of [one, other]) {
    await choose(page, "API key", `Test key …${key.value.slice(-4)}`);
    await page.waitForURL(`**/usage?key=${key.id}`);
  }
  await choose(page, "API key", /^Laptop$/);
  await page.waitForURL(`**/usage?key=${alone.id}`);
  await assertAccessible(t, page);
});

browserTest("figures of the earlier period are marked until the new ones arrive", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  await postChat(gateway, value, chatBody("demo/echo"));
  await gateway.services.recorder.flush();
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/usage" });
  await page.getByRole("region", { name: "Breakdown" }).getByRole("row").nth(1).waitFor();
  t.is(await page.getByText("Loading…").count(), 0);
  const open = Promise.withResolvers<void>();
  await page.route("**/graphql", (route) => open.promise.then(() => route.continue()));
  await choose(page, "Period", "Last 7 days");
  await page.getByText("Loading…").nth(1).waitFor();
  t.is(await page.locator("[aria-busy=true]").count(), 2);
  open.resolve();
  await page.getByText("Loading…").first().waitFor({ state: "detached" });
  await page.getByText("Days in UTC").waitFor();
});
