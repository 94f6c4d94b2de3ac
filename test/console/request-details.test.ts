import test from "ava";
import { phasesOf } from "../../console/src/lib/requests/request-phases.ts";
import type { AttemptTiming } from "../../console/src/lib/usage/read-usage-record.ts";
import { addModel, answersWith, askModel } from "../helpers/add-model.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { freePort } from "../helpers/free-port.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createKey, startTestGateway, usageOf } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

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
  await page.goto(`/requests/${await ask()}`);
  t.deepEqual((await lines()).slice(3), [
    "At model prices = $0.00408",
    "Reported by provider = $0.0071",
    "Cost: The provider's own figure = $0.0071",
    "Charge: Cost × 1.5 = $0.01065",
  ]);

  await gateway.admin.providers.update.mutate({ id: providerId, costSource: null });
  tier = "ultrafast";
  await page.goto(`/requests/${await ask()}`);
  t.deepEqual((await lines()).slice(-3), [
    "Reported by provider: For comparison = $0.0071",
    "Cost = unknown",
    "Counted by budgets: Known parts at usual prices = $0.00204",
  ]);
  await assertAccessible(t, page);
});

browserTest("a request without a price says so", async (t) => {
  const gateway = await startTestGateway(t);
  const { slug } = await gateway.admin.models.get.query({ slug: "demo/echo" });
  await gateway.admin.models.update.mutate({ slug, prices: { input: null, output: null } });
  const { id: keyId, value } = await createKey(gateway, [slug]);
  await postChat(gateway, value, chatBody(slug));
  const [record] = await usageOf(gateway, keyId);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/requests/${record?.id}` });
  await page.getByText("The model has no price, or the token count is unknown.").waitFor();
  t.is(await page.getByRole("region", { name: "Cost breakdown" }).getByRole("term").count(), 0);
});

const viewport = { width: 360, height: 780 };

browserTest("the table and the request details show why a provider failed", async (t) => {
  const gateway = await startTestGateway(t);
  const down = await addModel(t, gateway, { url: `http://127.0.0.1:${await freePort()}` });
  const broken = await addModel(t, gateway, answersWith(500));
  for (const { slug } of [down, broken]) await askModel(gateway, slug);

  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests", viewport });
  for (const why of ["Connection refused", "Provider returned HTTP status 500"]) {
    const cell = page.getByRole("cell", { name: `Failed upstream_error ${why}`, exact: true });
    await page
      .getByRole("row")
      .filter({ has: cell })
      .getByRole("link", { name: /request details/ })
      .click();
    const dialog = page.getByRole("dialog", { name: "Request" });
    t.is(
      await dialog
        .locator("dt", { hasText: /^Reason$/ })
        .locator("+ dd")
        .innerText(),
      why,
    );
    t.is(await dialog.locator("dt", { hasText: "Rejected by" }).count(), 0);
    t.is(await dialog.getByText("unknown", { exact: true }).count(), 0, "it has no tokens");
    await assertAccessible(t, page);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }
  const table = page.getByRole("region", { name: "Requests" });
  t.true(await table.evaluate((element) => element.scrollWidth <= element.clientWidth));
});

browserTest("the overview and the provider's page show the last failure", async (t) => {
  const gateway = await startTestGateway(t);
  const down = await addModel(t, gateway, { url: `http://127.0.0.1:${await freePort()}` });
  const busy = await addModel(t, gateway, answersWith(429));
  for (const { slug } of [down, busy]) await askModel(gateway, slug);

  const page = await openSignedIn(t, { browser: browser(), gateway, viewport });
  const line = (name: string) => page.getByRole("listitem").filter({ hasText: name });
  const refused = /Last error upstream_error, connection refused, (?:just now|\d+ seconds ago)/;
  await line(down.name).getByText(refused).waitFor();
  // The console omits an error reason that equals the error code.
  await line(busy.name)
    .getByText(/Last error HTTP 429, (?:just now|\d+ seconds ago)/)
    .waitFor();
  await assertAccessible(t, page);
  await page.goto(`/providers/${down.providerId}`);
  await page.getByText(refused).waitFor();
  await assertAccessible(t, page);
});

const times = { latencyMs: 1_000, timeToFirstTokenMs: 600, status: "SUCCEEDED", errorReason: null } as const;
const attempt = (startMs: number, durationMs: number, failure: AttemptTiming["failure"] = null) => ({
  provider: "test",
  model: "model",
  startMs,
  durationMs,
  failure,
});

function linesOf(record: Parameters<typeof phasesOf>[0]): string[] {
  return phasesOf(record).map(({ label, startMs, durationMs }) => `${label} ${startMs}+${durationMs}`);
}

test("a request without times of its attempts has two phases", (t) => {
  t.deepEqual(linesOf({ ...times, attempts: 2, timing: null }), [
    "Time to first token 0+600",
    "Output 600+400",
  ]);
});

test("a request without output has one phase", (t) => {
  t.deepEqual(linesOf({ ...times, timeToFirstTokenMs: null, attempts: 0, timing: null }), ["Total 0+1000"]);
});

test("a queued request has its upload and its queue", (t) => {
  const timing = { receivedMs: 20, attempts: [attempt(300, 700)] };
  t.deepEqual(linesOf({ ...times, attempts: 1, timing }), [
    "Upload 0+20",
    "Queue 20+280",
    "Time to first token 300+300",
    "Output 600+400",
  ]);
});

test("failed attempts and the wait after them have their own phases", (t) => {
  const failed = [attempt(1, 99, "http_429"), attempt(300, 50, "connection_refused")];
  const timing = { receivedMs: 1, attempts: [...failed, attempt(350, 650)] };
  t.deepEqual(linesOf({ ...times, attempts: 3, timing }), [
    "Attempt 1: HTTP 429 1+99",
    "Wait before retry 100+200",
    "Attempt 2: connection refused 300+50",
    "Attempt 3: time to first token 350+250",
    "Output 600+400",
  ]);
});

test("the time after the last stored attempt belongs to later ones", (t) => {
  const timing = { receivedMs: 0, attempts: [attempt(0, 100, "http_503")] };
  t.deepEqual(linesOf({ ...times, attempts: 20, timing }), [
    "Attempt 1: HTTP 503 0+100",
    "Later attempts 100+900",
  ]);
});

test("a failed request marks its last attempt as failed, with the reason", (t) => {
  const timing = { receivedMs: 1, attempts: [attempt(1, 99, "http_429"), attempt(300, 700)] };
  const failed = {
    ...times,
    timeToFirstTokenMs: null,
    status: "FAILED",
    errorReason: "first_byte_timeout",
  } as const;
  const phases = phasesOf({ ...failed, attempts: 2, timing });
  t.deepEqual(
    phases.map(({ kind, label }) => `${kind} ${label}`),
    ["failed Attempt 1: HTTP 429", "wait Wait before retry", "failed Attempt 2: first-byte timeout"],
  );
  const [only] = phasesOf({ ...failed, attempts: 1, timing: null });
  t.is(only?.kind, "failed");
});
