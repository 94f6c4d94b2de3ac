import { readFile } from "node:fs/promises";
import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { type ConsolePage, openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { randomUsage } from "../helpers/random-usage.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);
/** This time zone is 3.5 hours behind UTC in winter, so its days do not start at a whole hour of UTC. */
const timezoneId = "America/St_Johns";

async function addRequestsAt({ services }: TestGateway, moments: string[], apiKeyId = "key_none") {
  const random = seededRandom(1);
  const world = { keys: 1, models: 1, providers: 1, owners: 1 };
  const records = moments.map((moment) => ({ ...randomUsage(random, new Date(moment), world), apiKeyId }));
  await services.database.write(({ usageRecords }) => usageRecords.insertAll(records));
}

const requestCount = (page: ConsolePage) => page.locator("dt", { hasText: "Requests" }).locator("+ dd");

async function exportedTimes(page: ConsolePage): Promise<{ name: string; times: string[] }> {
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export CSV" }).click();
  const download = await downloading;
  const csv = await readFile(await download.path(), "utf8");
  const [, ...lines] = csv.replaceAll('"', "").trim().split("\r\n");
  return { name: download.suggestedFilename(), times: lines.map((line) => line.split(",")[1] ?? "") };
}

browserTest("a custom period covers whole days of the page's time zone everywhere", async (t) => {
  const gateway = await startTestGateway(t);
  const [first, last] = ["2026-01-10T03:30:00.000Z", "2026-01-13T03:29:59.999Z"];
  const outside = ["2026-01-10T03:29:59.999Z", "2026-01-13T03:30:00.000Z"];
  await addRequestsAt(gateway, [first, last, ...outside]);
  const path = "/usage?period=custom&from=2026-01-10&to=2026-01-12";
  const page = await openSignedIn(t, { browser: browser(), gateway, path, timezoneId });
  await page.getByRole("figure", { name: "Requests by model, 2026-01-10 to 2026-01-12" }).waitFor();
  t.is(await requestCount(page).innerText(), "2");
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

  await page.getByLabel("To", { exact: true }).fill("2026-01-10");
  await page.getByLabel("To", { exact: true }).press("Enter");
  await page.waitForURL(/\?period=custom&from=2026-01-10&to=2026-01-10$/);
  await page.getByRole("figure", { name: "2026-01-10 to 2026-01-10" }).waitFor();
  await page.getByText(`Hours in ${timezoneId}`).waitFor();
  await page.locator("dt", { hasText: "Requests" }).locator('+ dd:text-is("1")').waitFor();

  await page.getByLabel("From", { exact: true }).fill("2026-01-09");
  await page.getByLabel("Status").click();
  await page.getByRole("option", { name: "Failed" }).click();
  await page.waitForURL(/status=/);
  t.is(await page.getByLabel("From", { exact: true }).inputValue(), "2026-01-09", "what is typed stays");
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
  await page.locator("dt", { hasText: "Requests" }).locator('+ dd:text-is("1")').waitFor();
  await assertAccessible(t, page);

  await page.getByLabel("Period").press("Enter");
  await page.getByRole("option", { name: "Last 24 hours" }).click();
  await page.waitForURL(/\?tab=usage$/);
  await page.getByLabel("From", { exact: true }).waitFor({ state: "detached" });
});

browserTest("invalid days are reported, and no data is shown for them", async (t) => {
  const gateway = await startTestGateway(t);
  const address = (from: string, to: string) => `/usage?period=custom&from=${from}&to=${to}`;
  const page = await openSignedIn(t, {
    browser: browser(),
    gateway,
    path: address("2026-01-12", "2026-01-10"),
  });
  for (const [from, to, message] of [
    ["2026-01-12", "2026-01-10", "The end 2026-01-10 is not after the start. Choose a later end."],
    ["2020-01-01", "2023-01-01", "The period is longer than 3 years. Choose a shorter period."],
    ["2999-01-01", "2999-01-02", "The start date 2999-01-01 is in the future. Choose an earlier date."],
    ["2026-02-30", "2026-03-01", "The start date is missing or invalid. Choose a date."],
    ["2026-01-10", "tomorrow", "The end date is missing or invalid. Choose a date."],
  ] as const) {
    await page.goto(address(from, to));
    await page.getByText(message).waitFor();
    t.is(await page.getByRole("figure").count(), 0);
    t.is(await page.getByRole("link", { name: "View requests" }).count(), 0);
  }
  await assertAccessible(t, page);

  await page.getByLabel("From", { exact: true }).fill("2026-01-12");
  await page.getByLabel("To", { exact: true }).fill("2026-01-10");
  for (let time = 0; time < 2; time++) {
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText("The end 2026-01-10 is not after the start. Choose a later end.").waitFor();
    await page
      .locator("input:focus")
      .and(page.getByLabel("To", { exact: true }))
      .waitFor();
  }
  t.regex(page.url(), /to=tomorrow$/, "the address keeps what is shown");
  await page.getByLabel("From", { exact: true }).fill("2020-01-02");
  await page.getByLabel("To", { exact: true }).fill("2023-01-01");
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForURL(/from=2020-01-02&to=2023-01-01$/);
  await page.getByRole("figure", { name: "2020-01-02 to 2023-01-01" }).waitFor();
  await page.getByText("Months in UTC").waitFor();
});

async function choose(page: ConsolePage, label: string, option: string) {
  await page.getByLabel(label, { exact: true }).click();
  await page.getByRole("option", { name: option, exact: true }).click();
}

const waitForRequestCount = (page: ConsolePage, count: number) =>
  page.locator("dt", { hasText: "Requests" }).locator(`+ dd:text-is("${count}")`).waitFor();

browserTest("usage of a deleted key is selectable, and Back undoes one selection at a time", async (t) => {
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
});

browserTest("keys of the same name are distinguished by the end of their values", async (t) => {
  const gateway = await startTestGateway(t);
  const [one, other, alone] = [await createKey(gateway), await createKey(gateway), await createKey(gateway)];
  await gateway.admin.keys.rename.mutate({ id: alone.id, name: "Laptop" });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/usage" });
  for (const key of [one, other]) {
    await choose(page, "API key", `Test key …${key.value.slice(-4)}`);
    await page.waitForURL(`**/usage?key=${key.id}`);
  }
  await choose(page, "API key", "Laptop");
  await page.waitForURL(`**/usage?key=${alone.id}`);
  await assertAccessible(t, page);
});

browserTest("bars of several models are drawn without errors, with whole requests", async (t) => {
  const gateway = await startTestGateway(t);
  const key = await createKey(gateway);
  await postChat(gateway, key.value, chatBody("demo/echo", "/fail 500"));
  await postChat(gateway, key.value, chatBody("nobody/nothing"));
  await gateway.services.recorder.flush();
  // `openSignedIn` fails the test if the page reports an error.
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/usage?status=FAILED" });
  const figure = page.getByRole("figure", { name: "Requests by model" });
  const bars = figure.locator('path[stroke="var(--surface)"]');
  await bars.nth(1).waitFor();
  for (const bar of await bars.all()) t.regex((await bar.getAttribute("d")) ?? "", /^M[\d.]+ [\d.]+V[^N]*z$/);
  t.regex(await figure.innerText(), /\b\d\d:00\b/, "hours of the day, of 24");
  t.notRegex(await figure.innerText(), /\d\.\d|\b[AP]M\b/);

  await page.goto("/usage?status=CANCELLED");
  await page.getByRole("heading", { name: "No requests" }).waitFor();
  await figure.getByText("0", { exact: true }).waitFor();
  t.notRegex(await figure.innerText(), /\d\.\d/);
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
      await page.getByLabel("Period").click();
      await page.getByRole("option", { name: "Last 30 days" }).click();
    }
    await eventually(() => order.length >= 3);
    t.deepEqual(order.splice(0), ["table", "options", "options"], period);
  }
  await page.getByLabel("API key").click();
  await page.getByRole("option", { name: /\(deleted\)$/ }).waitFor();
});
