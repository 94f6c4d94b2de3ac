import { readFile } from "node:fs/promises";
import test from "ava";
import { addModel, answersWith } from "../helpers/add-model.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { type ConsolePage, openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { userRow } from "../helpers/open-test-database.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { randomUsage } from "../helpers/random-usage.ts";
import { sendCompletion } from "../helpers/scripted-upstream.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

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

  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export table" }).click();
  const csv = await readFile(await (await downloading).path(), "utf8");
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
  await page.locator("dt", { hasText: "Requests" }).locator(`+ dd:text-is("${bobs.length}")`).waitFor();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Person: Bob" }).click();
  await page.waitForURL(/\/usage\?by=key$/);

  await page.getByLabel("Group by").click();
  await page.getByRole("option", { name: "by error reason" }).click();
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

browserTest("an unknown period is reported, and UTC applies to days and hours", async (t) => {
  const gateway = await startTestGateway(t);
  await addRequests(gateway, 20, Date.parse("2026-01-10T00:00:00Z"), Date.parse("2026-01-10T01:00:00Z"));
  const timezoneId = "America/St_Johns";
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/usage?period=12m", timezoneId });
  await page.getByText("The period “12m” in the URL is invalid").waitFor();
  await page.goto("/usage?period=custom&from=2026-01-10&to=2026-01-10&zone=utc");
  await page.locator("dt", { hasText: "Requests" }).locator('+ dd:text-is("20")').waitFor();
  await page.getByText("Hours in UTC").waitFor();
  await page.getByLabel("Time zone").click();
  await page.getByRole("option", { name: "Local time" }).click();
  await page.locator("dt", { hasText: "Requests" }).locator('+ dd:text-is("0")').waitFor();
  t.notRegex(page.url(), /zone=/);
});

browserTest("key and model stay readable, and nothing overflows, at every width", async (t) => {
  const gateway = await startTestGateway(t);
  const now = Date.now();
  await addRequests(gateway, 60, now - 20 * 3_600_000, now - 60_000);
  for (const width of [1440, 1024, 768, 360]) {
    const viewport = { width, height: 900 };
    const page = await openSignedIn(t, { browser: browser(), gateway, path: "/usage", viewport });
    await table(page, "by model").waitFor();
    const sideways = await page.evaluate<number>(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    t.is(sideways, 0, `${width}`);
    const name = await table(page, "by model").getByRole("rowheader").first().boundingBox();
    t.true((name?.width ?? 0) >= 110, `${width}: ${name?.width}`);
    await assertAccessible(t, page);

    await page.goto("/requests");
    const requests = page.getByRole("region", { name: "Requests" });
    await requests.getByRole("row").nth(1).waitFor();
    const lost = await page.evaluate<number>(
      "document.querySelector('table').parentElement.scrollWidth - document.querySelector('table').parentElement.clientWidth",
    );
    t.is(lost, 0, `requests at ${width}`);
    const model = await requests.getByText("provider-0/model").locator("visible=true").first().boundingBox();
    t.true((model?.width ?? 0) >= 110, `requests at ${width}: ${model?.width}`);
    await page.context().close();
  }
});

async function factsOf(page: ConsolePage, cell: string): Promise<Record<string, string>> {
  const row = page
    .getByRole("region", { name: "Requests" })
    .getByRole("row")
    .filter({ has: page.getByRole("cell", { name: cell, exact: true }) });
  await row.getByRole("link", { name: /request details/ }).click();
  const dialog = page.getByRole("dialog", { name: "Request" });
  await dialog.locator("dt").first().waitFor();
  const labels = await dialog.locator("dt").allInnerTexts();
  const values = await dialog.locator("dd").allInnerTexts();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  return Object.fromEntries(labels.map((label, place) => [label, values[place] ?? ""]));
}

browserTest("missing models show the requested name, and requests without one are grouped", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  await postChat(gateway, value, chatBody("demo/echo"));
  await postChat(gateway, value, chatBody("echo"));
  await postChat(gateway, value, { messages: "none" });
  await gateway.services.recorder.flush();

  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests" });
  await page.getByRole("region", { name: "Requests" }).getByRole("row").nth(3).waitFor();
  t.is((await factsOf(page, "echo"))["Model"], "echo");
  t.is((await factsOf(page, "none recorded"))["Model"], "none recorded");
  await page.goto("/usage");
  const chart = page.getByRole("region", { name: "Chart" });
  for (const name of ["demo/echo", "echo", "none recorded"])
    await chart.getByText(name, { exact: true }).first().waitFor();
  await page.goto("/requests");

  for (const [choice, address] of [
    ["echo", "model=echo"],
    ["none recorded", "model=%28none%29"],
  ] as const) {
    await page.getByLabel("Model", { exact: true }).click();
    await page.getByRole("option", { name: choice, exact: true }).click();
    await page.waitForURL((url) => url.search === `?${address}`);
    await page
      .getByRole("region", { name: "Requests" })
      .getByRole("row")
      .nth(2)
      .waitFor({ state: "detached" });
    await page
      .getByRole("region", { name: "Requests" })
      .getByRole("cell", { name: choice, exact: true })
      .waitFor();
  }
  await assertAccessible(t, page);
  await page.reload();
  await page
    .getByRole("region", { name: "Requests" })
    .getByRole("cell", { name: "none recorded", exact: true })
    .waitFor();
  t.is(await page.getByLabel("Model", { exact: true }).innerText(), "none recorded");
});

browserTest("the answering model is shown where one answered, otherwise the requested one", async (t) => {
  const gateway = await startTestGateway(t);
  const answering = await addModel(t, gateway, sendCompletion);
  const refusing = await addModel(t, gateway, answersWith(500));
  const away = await addModel(t, gateway, { url: "http://127.0.0.1:1" });
  const { value } = await createKey(gateway, [answering.slug, refusing.slug, away.slug]);
  for (const { slug } of [answering, refusing, away]) await postChat(gateway, value, chatBody(slug));
  await gateway.services.recorder.flush();

  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests" });
  await page.getByRole("region", { name: "Requests" }).getByRole("row").nth(3).waitFor();
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
