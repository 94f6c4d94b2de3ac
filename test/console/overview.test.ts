import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { keyOf, spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { unpricedIn } from "../helpers/unpriced-in.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("the overview counts the last day, and a newcomer's steps disappear once done", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway });
  await page.getByRole("link", { name: "Add a provider" }).waitFor();
  await page.getByRole("link", { name: /^Requests 0/ }).waitFor();
  await assertAccessible(t, page);

  await gateway.admin.providers.create.mutate({
    name: "openai",
    kind: "openai-compatible",
    baseUrl: "https://api.example.com/v1",
    apiKey: "sk-test",
  });
  const key = await createKey(gateway);
  await postChat(gateway, key.value, {
    model: "demo/echo",
    messages: [{ role: "user", content: "Hello" }],
  });
  await postChat(gateway, key.value, {
    model: "demo/echo",
    messages: [{ role: "user", content: "/fail 500" }],
  });
  await gateway.services.recorder.flush();
  await page.reload();
  await page.getByRole("link", { name: /^Requests 2/ }).waitFor();
  await page.getByRole("link", { name: /^Errors 1/ }).waitFor();
  await page
    .getByRole("link", {
      name: /^Average latency \d+ ms p95 needs 20 requests \(\d+ so far\)/,
    })
    .waitFor();
  t.is(await page.getByRole("heading", { name: "Next steps" }).count(), 0);
  t.is(await page.getByRole("heading", { name: "Budgets" }).count(), 0, "there are none");
  await page.getByRole("listitem").filter({ hasText: "openai" }).getByText("Idle").waitFor();
  await assertAccessible(t, page);
});

browserTest("responses of the demo are free and not unpriced", async (t) => {
  const gateway = await startTestGateway(t);
  const key = await createKey(gateway);
  await postChat(gateway, key.value, chatBody("demo/echo", "Hello"));
  await gateway.services.recorder.flush();
  const page = await openSignedIn(t, { browser: browser(), gateway });
  await page.getByRole("link", { name: /^Cost \$0\.00/ }).waitFor();
  t.is(await page.getByText("unknown").count(), 0);
  await page.goto("/usage");
  await page.getByRole("cell", { name: "$0.00" }).first().waitFor();
  t.is(await unpricedIn(page, "demo/echo"), "0");
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

browserTest("a member's overview covers their own keys and hides providers", async (t) => {
  const gateway = await startTestGateway(t);
  const key = await createKey(gateway);
  await postChat(gateway, key.value, { model: "demo/echo", messages: [{ role: "user", content: "Hello" }] });
  await gateway.services.recorder.flush();
  const { email, password } = await addPerson(gateway, "grace@example.com");
  const page = await openSignedIn(t, { browser: browser(), gateway, email, password });
  await page.getByRole("link", { name: /^Requests 0/ }).waitFor();
  await page.getByRole("link", { name: "Create API key" }).waitFor();
  t.is(await page.getByRole("link", { name: "Add a provider" }).count(), 0);
  t.is(await page.getByRole("heading", { name: "Provider health" }).count(), 0);
  await assertAccessible(t, page);
});

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

  const members = await openSignedIn(t, { browser: browser(), gateway, email, password });
  const item = members.getByRole("region", { name: "Budgets" }).getByRole("listitem");
  await item.getByText("Budget exceeded", { exact: true }).waitFor();
  await item.getByText("$0.02 of $0.02 spent · resets on 2027-01-31").waitFor();
  t.is(await item.count(), 1);
  await assertAccessible(t, members);
});
