import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { becomePerson, openSignedIn, shareBrowser, visit } from "../helpers/chromium.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("defaults and a person's limits are set, each with the source of what applies", async (t) => {
  const gateway = await startTestGateway(t, { environment: { PERSON_TOKENS_PER_MINUTE_MAX: "5000" } });
  const { id, value } = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/people" });
  const navigation = page.getByRole("navigation", { name: "Console" });
  await navigation.getByRole("link", { name: "Limits" }).first().click();
  await page.getByRole("region", { name: "Gateway" }).waitFor();
  await assertAccessible(t, page);

  const tabs = page.getByRole("navigation", { name: "Whose limits" });
  await tabs.getByRole("link", { name: "Each API key" }).click();
  await page.getByRole("region", { name: "Each API key" }).waitFor();
  const requests = page.getByLabel("Requests per minute");
  await requests.fill("1.5");
  await page.keyboard.press("Enter");
  await page.getByText('"1.5" is not a positive whole number.').waitFor();
  await page.locator("input:focus").and(requests).waitFor();
  await requests.fill("1");
  await page.keyboard.press("Enter");
  await page.getByText("Limits saved.").waitFor();
  await page.getByText("Set here.").waitFor();
  const ask = async () => (await postChat(gateway, value, chatBody("demo/echo"))).status;
  t.deepEqual([await ask(), await ask()], [200, 429]);

  await page.getByLabel("Daily budget").fill("5");
  await tabs.getByRole("link", { name: "Each person" }).click();
  const guard = page.getByRole("dialog", { name: "Discard changes?" });
  await guard.getByRole("button", { name: "Leave" }).click();
  await page.getByText("Environment variable PERSON_TOKENS_PER_MINUTE_MAX: 5,000").waitFor();
  t.is(await page.getByLabel("Tokens per minute").getAttribute("placeholder"), "5,000");
  await page.getByLabel("Monthly budget").fill("20");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Set here.").waitFor();
  const budgets = { day: null, week: null, month: 20, total: null };
  t.deepEqual((await gateway.admin.limits.get.query({ holder: "people" })).limits.budgetsUsd, budgets);

  await page.getByRole("main").getByRole("link", { name: "People" }).click();
  await page.getByRole("button", { name: "Actions for Ada" }).click();
  await page.getByRole("menuitem", { name: "Limits" }).click();
  await page.getByRole("heading", { name: "Ada" }).waitFor();
  await page.getByText("Default for each person: $20.00").waitFor();
  await assertAccessible(t, page);
  await page.getByLabel("Monthly budget").fill("30");
  await page.getByLabel("Allowed addresses").fill("10.0.0/8");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("10.0.0/8 is not an IP address or range").waitFor();
  await page.getByLabel("Allowed addresses").fill("10.0.0.0/8\n::1");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Set here.").first().waitFor();
  const { id: holder } = await gateway.admin.auth.me.query();
  const { limits } = await gateway.admin.limits.get.query({ holder });
  t.deepEqual([limits.budgetsUsd.month, limits.addressRanges], [30, ["10.0.0.0/8", "::1"]]);

  await visit(page, `/keys/${id}?tab=limits`);
  await page.getByText("of 1 used").waitFor();
  t.is(await page.getByLabel("Requests per minute").getAttribute("placeholder"), "1 by default");
});

browserTest("two administrators who change the same limits see each other's change", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/limits" });
  await page.getByLabel("Tokens per minute").fill("700");
  const theirs = { tokensPerMinute: 900, concurrentRequests: 8 };
  await gateway.admin.limits.set.mutate({ holder: "gateway", limits: theirs });
  await page.getByRole("button", { name: "Save" }).click();
  const notice = page.getByRole("alert").filter({ hasText: "Someone else changed this set of limits" });
  await notice.getByText("Tokens per minute is now 900. Your value: 700.").waitFor();
  await notice.getByText("Concurrent requests is now 8.").waitFor();
  await assertAccessible(t, page);
  await notice.getByRole("button", { name: "Overwrite" }).click();
  await page.getByText("Limits saved.").waitFor();
  const { limits, revision } = await gateway.admin.limits.get.query({ holder: "gateway" });
  t.like(limits, { tokensPerMinute: 700, concurrentRequests: 8 });
  t.is(revision, 2);
});

browserTest("the limits page is for administrators, and an unknown person is not found", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/people/usr_absent" });
  await page.getByRole("heading", { name: "This person does not exist" }).waitFor();
  await assertAccessible(t, page);
  await becomePerson(page, await addPerson(gateway, "grace@example.com"), "/limits");
  await page.getByRole("heading", { name: "Administrators only" }).waitFor();
  const navigation = page.getByRole("navigation", { name: "Console" });
  t.is(await navigation.getByRole("link", { name: "Limits" }).count(), 0);
});
